"""The steps from data to a released model. An interrupted run resumes at the unfinished step."""

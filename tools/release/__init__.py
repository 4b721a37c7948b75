"""`make release VERSION=x.y.z`: from a clean checkout to a tag and the files of a release.

All work happens in a temporary clone. The repository gets the commit, the tag and the files at the
end, so a release that fails or is interrupted leaves nothing.
"""

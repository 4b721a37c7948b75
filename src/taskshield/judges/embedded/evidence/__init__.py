"""What is known about a call without a model: values, their sources, directives."""

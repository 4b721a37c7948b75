"""From labelled conversations and public pairs to training examples."""

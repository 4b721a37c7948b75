"""What an audit writes: findings, the journal, figures and the report."""

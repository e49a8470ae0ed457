"""Operations and reducers of one's own: Python functions of numbers, read from their source."""

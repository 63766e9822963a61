"""Operations that the user's program defines."""

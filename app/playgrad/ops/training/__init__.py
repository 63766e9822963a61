"""Operations of a training step: optimizer updates, batch indices, history, replica markers."""

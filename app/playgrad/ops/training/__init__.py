"""Operations of a training step: optimizer updates, batch order, history, replica marks."""

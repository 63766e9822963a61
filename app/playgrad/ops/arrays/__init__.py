"""Operations on the shape and the elements of arrays: reshape, broadcast, concat, gather, pad."""

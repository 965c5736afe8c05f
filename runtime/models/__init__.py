"""What a language model is to an agent: messages in, one reply out."""

/// An answer is not the one that is there.
struct UnexpectedAnswer: Error {}

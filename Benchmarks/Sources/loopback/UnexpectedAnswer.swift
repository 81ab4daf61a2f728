/// The response differs from the expected one.
struct UnexpectedAnswer: Error {}

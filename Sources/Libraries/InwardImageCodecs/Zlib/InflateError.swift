/// Why compressed data cannot be taken apart, as the end of a sentence that begins with them.
enum InflateError: String, Error {
    case header = "have a header that is not zlib's"
    case dictionary = "need a dictionary"
    case blockType = "have a block of an unknown type"
    case storedLength = "have a stored block whose length is wrong"
    case codeLengths = "have a block whose codes are wrong"
    case code = "have a code that stands for nothing"
    case distance = "repeat what comes before their beginning"
    case length = "are longer than the picture"
    case checksum = "have a wrong checksum"
}

public import InwardImages

/// Pictures beside each other, as different loaders give them.
public struct Gallery: Hashable, Sendable {
    /// A picture that is ready to be shown.
    public struct Picture: Hashable, Sendable {
        /// The picture, encoded.
        public let bytes: [UInt8]
        /// The form it is encoded in.
        public let format: ImageFormat
        /// How large it is.
        public let size: ImageSize
    }

    /// What a loader made of an address.
    public struct Exhibit: Hashable, Sendable {
        /// The picture, or why there is none.
        public let picture: Result<Picture, ImageError>
        /// What the loader did.
        public let report: ImageLoadReport
    }

    /// What all loaders made of an address.
    public struct Row: Hashable, Sendable {
        /// What the picture is of.
        public let title: String
        /// Where it is.
        public let address: ImageAddress
        /// What each loader made of it, in the order of the loaders.
        public let exhibits: [Exhibit]
    }

    /// What the loaders are called.
    public let loaders: [String]
    /// The rows, users first, in the order of their names.
    public let rows: [Row]
}

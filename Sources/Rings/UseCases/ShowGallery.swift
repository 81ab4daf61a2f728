public import Entities
import InwardCore
public import InwardImages

/// Shows the images of all users, and others, as different loaders give them.
public struct ShowGallery: Sendable {
    private struct Load {
        let row: Int
        let column: Int
        let exhibit: Gallery.Exhibit
    }

    /// How many images are loaded at once. Others wait their turn.
    private static let atOnce = 16

    private let users: ListUsers
    private let loaders: [GalleryLoader]
    private let codec: any ImageCodec
    private let others: [(title: String, address: ImageAddress)]
    private let avatar: @Sendable (User.ID) -> ImageAddress

    /// Makes the use case.
    ///
    /// - Parameters:
    ///   - users: The use case that gives the users.
    ///   - loaders: The loaders to compare.
    ///   - codec: What encodes the images, as JPEG or as PNG if they let something through.
    ///   - others: What is loaded beside the users' images.
    ///   - avatar: Where the image of a user is.
    public init(
        users: ListUsers,
        loaders: [GalleryLoader],
        codec: any ImageCodec,
        others: [(title: String, address: ImageAddress)] = [],
        avatar: @escaping @Sendable (User.ID) -> ImageAddress
    ) {
        self.users = users
        self.loaders = loaders
        self.codec = codec
        self.others = others
        self.avatar = avatar
    }

    /// Loads all images. One that cannot be had is an exhibit that says why.
    ///
    /// - Parameter progress: Called after each image with how many are done, and of how many.
    /// - Returns: what each loader made of each address.
    /// - Throws: a ``ListUsersError`` if there is no list of users to be had.
    public func callAsFunction(
        progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws(ListUsersError) -> Gallery {
        let users = try await users().value
        let subjects = users.map { (title: $0.name, address: avatar($0.id)) } + others
        let loads = Dictionary(grouping: await loads(of: subjects.map(\.address), progress), by: \.row)
        let rows = subjects.enumerated().map { index, subject in
            let exhibits = (loads[index] ?? []).sorted { $0.column < $1.column }
            return Gallery.Row(title: subject.title, address: subject.address, exhibits: exhibits.map(\.exhibit))
        }
        return Gallery(loaders: loaders.map(\.name), rows: rows)
    }

    private func loads(of addresses: [ImageAddress], _ progress: (Int, Int) -> Void) async -> [Load] {
        let total = addresses.count * loaders.count
        return await withTaskGroup(of: Load.self) { group in
            var loads: [Load] = []
            func collect() async {
                guard let load = await group.next() else { return }
                loads.append(load)
                progress(loads.count, total)
            }
            var begun = 0
            for (row, address) in addresses.enumerated() {
                for (column, loader) in loaders.enumerated() {
                    if begun - loads.count >= Self.atOnce { await collect() }
                    begun += 1
                    group.addTask { Load(row: row, column: column, exhibit: await exhibit(address, loader)) }
                }
            }
            while loads.count < begun { await collect() }
            return loads
        }
    }

    private func exhibit(_ address: ImageAddress, _ loader: GalleryLoader) async -> Gallery.Exhibit {
        let load = await loader.loader.load(address)
        return Gallery.Exhibit(image: load.result.flatMap { encoded($0, of: address) }, report: load.report)
    }

    private func encoded(_ image: Image, of address: ImageAddress) -> Result<Gallery.Rendition, ImageError> {
        let encoding: ImageEncoding = image.isOpaque ? .jpeg(quality: 85, subsampling: .none) : .png
        do {
            let bytes = try codec.bytes(of: image, as: encoding)
            return .success(Gallery.Rendition(bytes: bytes, format: encoding.format, size: image.size))
        } catch {
            return .failure(ImageError(error, of: address))
        }
    }
}

/// A loader, and what it is called where several are compared.
public struct GalleryLoader: Sendable {
    let name: String
    let loader: ImageLoader

    /// Names a loader.
    public init(_ name: String, _ loader: ImageLoader) {
        self.name = name
        self.loader = loader
    }
}

/// Images beside each other, as different loaders give them.
public struct Gallery: Hashable, Sendable {
    /// An image that is ready to be shown.
    public struct Rendition: Hashable, Sendable {
        /// The image, encoded.
        public let bytes: [UInt8]
        /// The form it is encoded in.
        public let format: ImageFormat
        /// How large it is.
        public let size: ImageSize
    }

    /// What a loader made of an address.
    public struct Exhibit: Hashable, Sendable {
        /// The image, or why there is none.
        public let image: Result<Rendition, ImageError>
        /// What the loader did.
        public let report: ImageLoadReport
    }

    /// What all loaders made of an address.
    public struct Row: Hashable, Sendable {
        /// What the image is of.
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

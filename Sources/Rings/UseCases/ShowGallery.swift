public import Entities
import InwardCore
public import InwardImages

/// A use case that loads the images of all users with several loaders, to compare the results. See <doc:GettingStarted>.
public struct ShowGallery: Sendable {
    private struct Load {
        let row: Int
        let column: Int
        let exhibit: Gallery.Exhibit
    }

    /// The maximum number of concurrent loads. Further loads wait.
    private static let atOnce = 16

    private let users: ListUsers
    private let loaders: [GalleryLoader]
    private let codec: any ImageCodec
    private let others: [(title: String, address: ImageAddress)]
    private let avatar: @Sendable (User.ID) -> ImageAddress

    /// Creates the use case.
    ///
    /// - Parameters:
    ///   - users: The use case that lists the users.
    ///   - loaders: The loaders to compare.
    ///   - codec: Encodes opaque images as JPEG, and images with transparency as PNG.
    ///   - others: Titles and addresses of further images, which follow those of the users.
    ///   - avatar: Returns the address of a user's image.
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

    /// Loads all images. If an image fails to load, its exhibit holds the error.
    ///
    /// - Parameter progress: Called after each image with the number of finished loads and their total number.
    /// - Returns: The result of each loader for each address.
    /// - Throws: A ``ListUsersError`` if the users cannot be listed.
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
        switch load.result {
        case .success(let image): return await Gallery.Exhibit(image: encoded(image, of: address), report: load.report)
        case .failure(let error): return Gallery.Exhibit(image: .failure(error), report: load.report)
        }
    }

    private func encoded(_ image: Image, of address: ImageAddress) async -> Result<Gallery.Rendition, ImageError> {
        let encoding: ImageEncoding = image.isOpaque ? .jpeg(quality: 85, subsampling: .none) : .png
        do {
            let bytes = try await codec.encode(image, as: encoding)
            return .success(Gallery.Rendition(bytes: bytes, format: encoding.format, size: image.size))
        } catch {
            return .failure(ImageError(error, of: address))
        }
    }
}

/// A named image loader, for comparison with others.
public struct GalleryLoader: Sendable {
    let name: String
    let loader: ImageLoader

    /// Creates a loader with a name.
    public init(_ name: String, _ loader: ImageLoader) {
        self.name = name
        self.loader = loader
    }
}

/// A table of images that compares several loaders.
public struct Gallery: Hashable, Sendable {
    /// An encoded image, ready to be shown.
    public struct Rendition: Hashable, Sendable {
        /// The encoded bytes.
        public let bytes: [UInt8]
        /// The format of the encoding.
        public let format: ImageFormat
        /// The size of the image.
        public let size: ImageSize
    }

    /// The result of one loader for one address.
    public struct Exhibit: Hashable, Sendable {
        /// The image, or the error that occurred.
        public let image: Result<Rendition, ImageError>
        /// The report of the load.
        public let report: ImageLoadReport
    }

    /// The results of all loaders for one address.
    public struct Row: Hashable, Sendable {
        /// The subject of the image, such as the name of a user.
        public let title: String
        /// The address of the image.
        public let address: ImageAddress
        /// The results, in the order of the loaders.
        public let exhibits: [Exhibit]
    }

    /// The names of the loaders.
    public let loaders: [String]
    /// The rows: users in the order of their names, then the others.
    public let rows: [Row]
}

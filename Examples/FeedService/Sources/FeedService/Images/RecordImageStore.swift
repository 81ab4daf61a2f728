import Foundation
import InwardImageServing
import InwardImages
import InwardRepositories

/// A store of encoded images in the store of the service, so that instances and restarts need not encode them again.
struct RecordImageStore: EncodedImageStore {
    private struct Kept: Codable {
        let mediaType: String
        let bytes: Data
    }

    private static let prefix: RecordKey = ["images"]

    let records: any RecordStore

    func image(for key: ImageVariantKey) async throws(EncodedImageStoreError) -> StoredImage? {
        do {
            guard let record = try await records.record(for: Self.key(key)), let expiry = record.expiry,
                let kept = try? PropertyListDecoder().decode(Kept.self, from: Data(record.bytes))
            else { return nil }
            return StoredImage(bytes: kept.bytes, mediaType: kept.mediaType, expiry: expiry)
        } catch {
            throw EncodedImageStoreError(explanation: "\(error)")
        }
    }

    func insert(_ image: StoredImage, for key: ImageVariantKey) async throws(EncodedImageStoreError) {
        do {
            let encoder = PropertyListEncoder()
            encoder.outputFormat = .binary
            let bytes = try encoder.encode(Kept(mediaType: image.mediaType, bytes: image.bytes))
            try await records.commit([.keep(StoredRecord(Array(bytes), expiry: image.expiry), Self.key(key))])
        } catch {
            throw EncodedImageStoreError(explanation: "\(error)")
        }
    }

    func removeImage(for key: ImageVariantKey) async throws(EncodedImageStoreError) {
        try await commit([.remove(Self.key(key))])
    }

    func removeImages(from address: ImageAddress) async throws(EncodedImageStoreError) {
        try await commit([.removeAll(Self.prefix.appending(address.rawValue))])
    }

    private func commit(_ changes: [RecordChange]) async throws(EncodedImageStoreError) {
        do throws(RecordStoreError) {
            try await records.commit(changes)
        } catch {
            throw EncodedImageStoreError(explanation: "\(error)")
        }
    }

    private static func key(_ key: ImageVariantKey) -> RecordKey {
        prefix.appending(key.address.rawValue).appending(key.description)
    }
}

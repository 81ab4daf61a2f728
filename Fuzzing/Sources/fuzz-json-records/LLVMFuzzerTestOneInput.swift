import Dispatch
import Foundation
import InwardCore
import InwardFetching

@testable import InterfaceAdapters
@testable import InwardRepositories

/// Reads bytes as an upstream's response: as one record, as a list, and as pages that are separated by zero bytes. Also compares the
/// decoder of records with that of Foundation.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
    let bytes = Data(UnsafeRawBufferPointer(start: start, count: count))
    read(bytes, .users())
    read(bytes, .posts())
    compareDecoders(bytes)
    let pages = bytes.split(separator: 0, maxSplits: 4).map { Data($0) }
    turn(pages, .numbers("page", size: "limit"))
    turn(pages, .offsets("start", size: "limit"))
    turn(pages, .cursors("after", size: "limit") { String(decoding: $0.body.prefix(4), as: UTF8.self) })
    return 0
}

/// Checks the results of decoding a response as one entity and as a list.
private func read<Entity: Identifiable & Equatable & Sendable>(
    _ bytes: Data,
    _ endpoint: Endpoint<Entity>
) where Entity.ID: Sendable & LosslessStringConvertible {
    do throws(FieldError) {
        checkRoundTrip(try endpoint.decodeOne(bytes), endpoint)
    } catch {
        check(error.description)
    }
    do throws(FieldError) {
        let list = try endpoint.decodeList(bytes)
        precondition(Set(list.entities.map(\.id)).count == list.entities.count)
        // Each record takes at least one byte, and so does the comma before the next one.
        precondition(list.entities.count + list.rejected.count <= bytes.count)
        precondition(list.rejected.count <= 1_001)
        for rejected in list.rejected { check(rejected.description) }
        for entity in list.entities.prefix(16) { checkRoundTrip(entity, endpoint) }
    } catch {
        check(error.description)
    }
}

/// Checks that an entity survives being encoded and decoded, as in a store.
private func checkRoundTrip<Entity: Identifiable & Equatable & Sendable>(
    _ entity: Entity,
    _ endpoint: Endpoint<Entity>
) where Entity.ID: Sendable & LosslessStringConvertible {
    guard let written = try? endpoint.encode(entity) else {
        preconditionFailure("The decoded entity cannot be encoded.")
    }
    precondition((try? endpoint.decodeOne(written)) == entity)
}

/// Checks that a message has a limited length.
private func check(_ message: String) {
    precondition(message.count <= 1_000)
}

/// Iterates over pages until the end, which must come.
private func turn(_ pages: [Data], _ paging: Paging) {
    let source = PageSource(pages: pages)
    let repository = Repository(
        Endpoint(PostDTO.self, at: "posts", paging: paging),
        upstream: Upstream(baseURL: URL(filePath: "/"), dataFetcher: source)
    )
    let isDone = DispatchSemaphore(value: 0)
    // An unstructured task, because the fuzzer calls a synchronous function. It is awaited below.
    Task {
        if var turned = repository.pages(of: 2)?.makeAsyncIterator() {
            var count = 0
            while let page = try? await turned.next() {
                count += 1
                precondition(count <= 2 * (pages.count + 2))
                precondition(page.rejected.count <= 1_001)
            }
        }
        await repository.close()
        isDone.signal()
    }
    isDone.wait()
}

/// An upstream that returns one page after the other, and repeats the last one.
private final class PageSource: DataFetcher {
    private let pages: [Data]
    private let turned = TurnedPages()

    init(pages: [Data]) {
        self.pages = pages
    }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let number = await turned.next()
        return DataResponse(body: pages.isEmpty ? Data() : pages[min(number, pages.count - 1)])
    }
}

/// Counts the requested pages.
private actor TurnedPages {
    private var count = 0

    func next() -> Int {
        defer { count += 1 }
        return count
    }
}

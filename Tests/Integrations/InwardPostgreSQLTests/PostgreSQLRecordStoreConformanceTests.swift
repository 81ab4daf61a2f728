#if PostgreSQL
import Foundation
import InwardPostgreSQL
import InwardRepositories
import InwardTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct PostgreSQLRecordStoreConformanceTests {
    private let server: PostgreSQLServer

    init() throws {
        server = try PostgreSQLServer.shared.get()
    }

    @Test func storeConforms() async throws {
        let database = server.info(try await server.database())
        try await RecordStoreConformance(isDurable: true, now: Date()).check { PostgreSQLRecordStore(database) }
    }

    @Test func storeConformsAmongSeveralInstances() async throws {
        let database = server.info(try await server.database())
        let conformance = SharedRecordStoreConformance(isDurable: true, announcesToOthers: true, now: Date())
        try await conformance.check { PostgreSQLRecordStore(database) }
        try await conformance.checkClosing {
            PostgreSQLRecordStore(database)
        } close: {
            $0.close()
        }
    }

    @Test func storeWithOneConnectionConforms() async throws {
        let database = server.info(try await server.database())
        try await RecordStoreConformance(isDurable: true, now: Date()).check {
            PostgreSQLRecordStore(database, connectionLimit: 1)
        }
    }

    @Test func repositoriesOverTheStoreConform() async throws {
        let database = server.info(try await server.database())
        try await RepositoryConformance(now: Date()).check { PostgreSQLRecordStore(database) }
    }

    @Test func responsesInTheStoreConform() async throws {
        let database = server.info(try await server.database())
        try await ResponseStoreConformance {
            RecordResponseStore(PostgreSQLRecordStore(database), under: ["responses"])
        }.check()
    }

    @Test func unitsOfWorkOverTheStoreConform() async throws {
        try await UnitOfWorkConformance(isDurable: true).check { place in
            let database = "conformance_\(place.replacing("-", with: "_"))"
            if try await server.execute("SELECT 1 FROM pg_database WHERE datname = '\(database)'", in: "postgres")
                .isEmpty
            {
                try await server.execute("CREATE DATABASE \(database)", in: "postgres")
            }
            return try await .records(in: PostgreSQLRecordStore(server.info(database)), seed: 1)
        }
    }
}
#endif

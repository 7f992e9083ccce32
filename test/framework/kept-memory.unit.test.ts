// Long-lived buffers own their memory: in Node's pool, a few hundred bytes would keep 64 KiB each alive.

import { encodeObject, WatchCache } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { DiscoveryDocuments } from "../../packages/framework/src/discovery/discovery-documents.ts";
import { OpenApiDocuments } from "../../packages/framework/src/discovery/openapi/openapi-documents.ts";
import { partialRepresentation, tableRepresentation } from "../../packages/framework/src/encode/representation.ts";
import { Lane } from "../../packages/framework/src/watch/lane.ts";
import { everything } from "../../packages/framework/src/watch/selection.ts";
import { Quote, served } from "./openapi-fixtures.ts";

const quotes = [served(Quote)];

function expectOwn(bytes: Buffer, what: string): void {
  expect(bytes.buffer.byteLength, what).to.equal(bytes.length);
}

describe("memory of their own", () => {
  it("is used for documents of discovery", () => {
    const documents = new DiscoveryDocuments();
    for (const path of ["/apis", "/apis/example.dev", "/apis/example.dev/v1"])
      for (const accept of ["application/json", "application/yaml"]) {
        const answer = documents.answer({ path, accept }, quotes);
        if (answer.kind !== "document") throw new Error(`${path}: ${answer.kind}`);
        expectOwn(answer.body, `${path} ${accept}`);
      }
  });

  it("is used for documents of OpenAPI", () => {
    const documents = new OpenApiDocuments();
    const protobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    for (const [path, accept] of [
      ["/openapi/v2", "application/json"],
      ["/openapi/v2", protobuf],
      ["/openapi/v3/apis/example.dev/v1", "application/json"],
    ] as const) {
      const answer = documents.answer({ path, accept, query: new URLSearchParams(), prefix: "" }, quotes);
      if (answer.kind !== "document") throw new Error(`${path}: ${answer.kind}`);
      expectOwn(answer.body, `${path} ${accept}`);
    }
  });

  it("is used for events of watches in the history", () => {
    const cache = new WatchCache({ version: "1" });
    const metadata = { name: "a", resourceVersion: "2", uid: "u" };
    cache.set(encodeObject({ apiVersion: "example.dev/v1", kind: "Quote", metadata }, "root"));
    for (const representation of [partialRepresentation(undefined), tableRepresentation(Quote, "Metadata")]) {
      const stats = { rendered: 0, delivered: 0 };
      const sent = { events: 0 };
      const lane = new Lane(cache, { selection: everything, representation, stats, sent, key: "" });
      const [[, object] = []] = lane.shown(cache.event(0));
      expectOwn(object ?? Buffer.alloc(0), representation.key);
      expect(JSON.parse(String(object)).kind).to.be.oneOf(["PartialObjectMetadata", "Table"]);
    }
  });
});

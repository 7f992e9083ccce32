import { expect } from "chai";
import { parse } from "yaml";
import {
  type DiscoveryAnswer,
  DiscoveryDocuments,
} from "../../packages/framework/src/discovery/discovery-documents.ts";
import type { Advertised } from "../../packages/framework/src/resource/served.ts";
import { ALL, Author, ConfigMap, OldQuote, Quote, READ, served } from "./openapi-fixtures.ts";

const V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const V2BETA1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
/** The Accept header of kubectl. */
const KUBECTL = `${V2},${V2BETA1},application/json`;

const quotes = [served(Quote), served(OldQuote, ["get"]), served(Author, ALL)];

function answer(path: string, resources: readonly Advertised[], accept?: string): DiscoveryAnswer {
  return new DiscoveryDocuments().answer({ path, accept }, resources);
}

function document(path: string, resources: readonly Advertised[], accept?: string): Record<string, unknown> {
  const found = answer(path, resources, accept);
  if (found.kind !== "document") throw new Error(`${path}: ${found.kind}`);
  return JSON.parse(found.body.toString("utf8")) as Record<string, unknown>;
}

const v1 = { groupVersion: "example.dev/v1", version: "v1" };
const v1beta2 = { groupVersion: "example.dev/v1beta2", version: "v1beta2" };

const quoteResource = {
  name: "quotes",
  singularName: "quote",
  namespaced: false,
  kind: "Quote",
  verbs: READ,
  shortNames: ["qu"],
  categories: ["sayings"],
  storageVersionHash: "3+dvJmSz5KI=",
};

describe("discovery, legacy documents", () => {
  it("/apis lists the groups, preferred version first", () => {
    const groups = [{ name: "example.dev", versions: [v1, v1beta2], preferredVersion: v1 }];
    expect(document("/apis", quotes)).to.deep.equal({ kind: "APIGroupList", apiVersion: "v1", groups });
  });

  it("/apis/<group> equals its entry in /apis", () => {
    expect(document("/apis/example.dev", quotes)).to.deep.equal({
      kind: "APIGroup",
      apiVersion: "v1",
      name: "example.dev",
      versions: [v1, v1beta2],
      preferredVersion: v1,
    });
  });

  it("/apis/<group>/<version> lists resources with their served verbs", () => {
    const { resources, ...rest } = document("/apis/example.dev/v1", [served(Quote)]);
    expect(rest).to.deep.equal({ kind: "APIResourceList", apiVersion: "v1", groupVersion: "example.dev/v1" });
    expect(resources).to.deep.equal([quoteResource]);
  });

  it("list exactly the verbs of the served resource", () => {
    for (const verbs of [ALL, READ, ["get"], ["list", "watch"], []] as const) {
      const { resources } = document("/apis/example.dev/v1", [served(Quote, verbs)]);
      expect((resources as { verbs: string[] }[])[0]?.verbs).to.deep.equal(verbs);
    }
  });

  it("/api has v1 once a resource of the core group is served", () => {
    const versions = (list: readonly Advertised[]): unknown => document("/api", list)["versions"];
    expect(versions(quotes)).to.deep.equal([]);
    expect(versions([served(ConfigMap)])).to.deep.equal(["v1"]);
    expect(document("/api/v1", [served(ConfigMap)])["groupVersion"]).to.equal("v1");
    expect(document("/apis", [served(ConfigMap)])["groups"]).to.deep.equal([]);
  });

  it("ignore a trailing slash", () => {
    for (const path of ["/apis", "/apis/example.dev", "/apis/example.dev/v1", "/api"]) {
      expect(document(`${path}/`, quotes), path).to.deep.equal(document(path, quotes));
      expect(answer(`${path}//`, quotes).kind, path).to.equal("not-found");
    }
  });

  it("are not found for groups and versions that are not served", () => {
    const paths = [
      "/api/v1",
      "/apis/example.dev/v2",
      "/apis/other.dev",
      "/apis/other.dev/v1",
      "/apis//v1",
      "/apis/",
      "/",
    ];
    const kinds = paths.map((path) => answer(path, quotes).kind);
    expect(kinds).to.deep.equal(paths.map((path) => (path === "/apis/" ? "document" : "not-found")));
    for (const path of ["", "/openapi", "apis", "/apis/example.dev/v1/quotes", "/api/v1/configmaps", "/apis/__proto__"])
      expect(answer(path, [...quotes, served(ConfigMap)]).kind, path).to.equal("not-found");
  });
});

describe("discovery, aggregated documents", () => {
  const item = {
    metadata: { name: "example.dev" },
    versions: [
      {
        version: "v1",
        resources: [
          {
            resource: "quotes",
            responseKind: { group: "example.dev", version: "v1", kind: "Quote" },
            scope: "Cluster",
            singularResource: "quote",
            verbs: READ,
            shortNames: ["qu"],
            categories: ["sayings"],
          },
        ],
        freshness: "Current",
      },
    ],
  };

  for (const [accept, version] of [
    [KUBECTL, "v2"],
    [`${V2BETA1},application/json`, "v2beta1"],
  ] as const) {
    it(`/apis has ${version} for a client that prefers it`, () => {
      const found = answer("/apis", [served(Quote)], accept);
      expect(found).to.include({
        kind: "document",
        contentType: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
      });
      expect(document("/apis", [served(Quote)], accept)).to.deep.equal({
        kind: "APIGroupDiscoveryList",
        apiVersion: `apidiscovery.k8s.io/${version}`,
        metadata: {},
        items: [item],
      });
    });
  }

  it("/api has the core group, /apis the others", () => {
    const names = (path: string): unknown[] =>
      (document(path, [...quotes, served(ConfigMap)], KUBECTL)["items"] as { metadata: { name: string } }[]).map(
        ({ metadata }) => metadata.name,
      );
    expect(names("/api")).to.deep.equal([""]);
    expect(names("/apis")).to.deep.equal(["example.dev"]);
    const [core] = document("/api", quotes, KUBECTL)["items"] as { versions: { resources: unknown[] }[] }[];
    expect(core?.versions.map(({ resources }) => resources)).to.deep.equal([[]]);
  });

  it("exist only at the two roots", () => {
    for (const path of ["/apis/example.dev", "/apis/example.dev/v1"]) {
      expect(answer(path, quotes, KUBECTL)).to.include({ kind: "document", contentType: "application/json" });
      expect(answer(path, quotes, V2).kind, path).to.equal("not-acceptable");
    }
  });
});

describe("discovery, representation and caching", () => {
  it("is available as YAML", () => {
    const found = answer("/apis", quotes, "application/yaml");
    if (found.kind !== "document") throw new Error(found.kind);
    expect(found.contentType).to.equal("application/yaml");
    expect(parse(found.body.toString("utf8"))).to.deep.equal(document("/apis", quotes));
  });

  it("lists the supported types when none is acceptable", () => {
    for (const path of ["/api", "/apis", "/apis/example.dev", "/apis/example.dev/v1"])
      expect(answer(path, quotes, "application/vnd.kubernetes.protobuf")).to.deep.equal({
        kind: "not-acceptable",
        supported: ["application/json", "application/yaml"],
      });
  });

  it("creates one document for lists with equal content, whatever the view", () => {
    const documents = new DiscoveryDocuments();
    const request = { path: "/apis", accept: undefined };
    const body = (resources: readonly Advertised[]): unknown => {
      const found = documents.answer(request, resources);
      return found.kind === "document" ? found.body : undefined;
    };
    const first = body([served(Quote)]);
    expect(body([served(Quote)])).to.equal(first);
    expect(body([served(Quote, ["get"])])).not.to.equal(first);
  });

  it("has an ETag that changes exactly when the content changes", () => {
    const etag = (resources: readonly Advertised[], path = "/apis/example.dev/v1"): string => {
      const found = answer(path, resources);
      return found.kind === "document" ? found.etag : found.kind;
    };
    expect(etag(quotes)).to.match(/^"[0-9A-F]{128}"$/);
    expect(etag([...quotes].reverse())).to.equal(etag(quotes));
    expect(etag([served(Quote, ["get"])])).not.to.equal(etag([served(Quote)]));
    expect(etag(quotes, "/apis")).not.to.equal(etag(quotes));
  });
});

import {
  aggregatedDiscoveryDocument,
  apiGroupDocument,
  apiGroupListDocument,
  apiResourceListDocument,
  apiVersionsDocument,
  type DiscoveredResource,
} from "@virtual-workspaces/apimachinery/discovery";
import { expect } from "chai";
import fc from "fast-check";

const quotes: DiscoveredResource = {
  group: "example.dev",
  version: "v1",
  kind: "Quote",
  plural: "quotes",
  singular: "quote",
  namespaced: false,
  shortNames: ["q"],
  categories: ["all"],
  verbs: ["watch", "list", "get"],
  storageVersionHash: "hash",
  subresources: [
    { name: "status", verbs: ["update", "get"], kind: "Quote" },
    { name: "scale", verbs: ["get"], group: "autoscaling", version: "v1", kind: "Scale" },
  ],
};
const authors: DiscoveredResource = {
  group: "example.dev",
  version: "v1",
  kind: "Author",
  plural: "authors",
  singular: "author",
  namespaced: true,
  shortNames: [],
  categories: [],
  verbs: ["get"],
};
const pods: DiscoveredResource = { ...authors, group: "", kind: "Pod", plural: "pods", singular: "pod" };
const old: DiscoveredResource = { ...authors, version: "v1beta1" };
const apps: DiscoveredResource = { ...authors, group: "apps", kind: "Deployment", plural: "deployments" };
const resources = [quotes, old, apps, pods, authors];

describe("apiVersionsDocument", () => {
  it("has v1 if there is a core group", () => {
    expect(apiVersionsDocument(true)).to.deep.equal({
      kind: "APIVersions",
      versions: ["v1"],
      serverAddressByClientCIDRs: [],
    });
    expect(apiVersionsDocument(false).versions).to.deep.equal([]);
  });

  it("contains the address of the server", () => {
    const address = { clientCIDR: "0.0.0.0/0", serverAddress: "127.0.0.1:6443" };
    expect(apiVersionsDocument(true, [address]).serverAddressByClientCIDRs).to.deep.equal([address]);
  });
});

describe("apiGroupListDocument", () => {
  it("contains the address of the server in each group", () => {
    const address = { clientCIDR: "0.0.0.0/0", serverAddress: "127.0.0.1:6443" };
    const { groups } = apiGroupListDocument(resources, "name", [address]);
    expect(groups.map((group) => group.serverAddressByClientCIDRs)).to.deep.equal([[address], [address]]);
  });

  it("lists all groups except the core one by name, and their versions, preferred first", () => {
    const v1 = { groupVersion: "apps/v1", version: "v1" };
    const [stable, beta] = ["v1", "v1beta1"].map((version) => ({ groupVersion: `example.dev/${version}`, version }));
    expect(apiGroupListDocument(resources)).to.deep.equal({
      kind: "APIGroupList",
      apiVersion: "v1",
      groups: [
        { name: "apps", versions: [v1], preferredVersion: v1 },
        { name: "example.dev", versions: [stable, beta], preferredVersion: stable },
      ],
    });
  });

  it("may be empty", () => expect(apiGroupListDocument([pods]).groups).to.deep.equal([]));
});

describe("apiGroupDocument", () => {
  it("describes that group alone", () => {
    const v1 = { groupVersion: "apps/v1", version: "v1" };
    expect(apiGroupDocument(resources, "apps")).to.deep.equal({
      kind: "APIGroup",
      apiVersion: "v1",
      name: "apps",
      versions: [v1],
      preferredVersion: v1,
    });
  });

  it("returns undefined for a group that is not served", () => {
    expect(apiGroupDocument(resources, "batch")).to.equal(undefined);
  });
});

describe("apiResourceListDocument", () => {
  it("lists resources and subresources by name", () => {
    expect(apiResourceListDocument(resources, { group: "example.dev", version: "v1" })).to.deep.equal({
      kind: "APIResourceList",
      apiVersion: "v1",
      groupVersion: "example.dev/v1",
      resources: [
        { name: "authors", singularName: "author", namespaced: true, kind: "Author", verbs: ["get"] },
        {
          name: "quotes",
          singularName: "quote",
          namespaced: false,
          kind: "Quote",
          verbs: ["get", "list", "watch"],
          shortNames: ["q"],
          categories: ["all"],
          storageVersionHash: "hash",
        },
        {
          name: "quotes/scale",
          singularName: "",
          namespaced: false,
          group: "autoscaling",
          version: "v1",
          kind: "Scale",
          verbs: ["get"],
        },
        { name: "quotes/status", singularName: "", namespaced: false, kind: "Quote", verbs: ["get", "update"] },
      ],
    });
  });

  it("names the core version v1", () => {
    const core = apiResourceListDocument(resources, { group: "", version: "v1" });
    expect(core?.groupVersion).to.equal("v1");
    expect(core, "as in Kubernetes").not.to.have.property("apiVersion");
    expect(core?.resources.map(({ name }) => name)).to.deep.equal(["pods"]);
  });

  it("returns undefined for a version that is not served", () => {
    expect(apiResourceListDocument(resources, { group: "example.dev", version: "v2" })).to.equal(undefined);
  });
});

describe("aggregatedDiscoveryDocument", () => {
  it("has all groups except the core one", () => {
    const kind = { group: "example.dev", version: "v1", kind: "Quote" };
    const author = (version: string): object => ({
      resource: "authors",
      responseKind: { group: "example.dev", version, kind: "Author" },
      scope: "Namespaced",
      singularResource: "author",
      verbs: ["get"],
    });
    const document = aggregatedDiscoveryDocument(resources, { version: "v2", core: false });
    expect(document).to.deep.include({
      kind: "APIGroupDiscoveryList",
      apiVersion: "apidiscovery.k8s.io/v2",
      metadata: {},
    });
    expect(document.items.map(({ metadata }) => metadata.name)).to.deep.equal(["apps", "example.dev"]);
    expect(document.items[1]?.versions).to.deep.equal([
      {
        version: "v1",
        freshness: "Current",
        resources: [
          author("v1"),
          {
            resource: "quotes",
            responseKind: kind,
            scope: "Cluster",
            singularResource: "quote",
            verbs: ["get", "list", "watch"],
            shortNames: ["q"],
            categories: ["all"],
            subresources: [
              {
                subresource: "scale",
                responseKind: { group: "autoscaling", version: "v1", kind: "Scale" },
                verbs: ["get"],
              },
              { subresource: "status", responseKind: kind, verbs: ["get", "update"] },
            ],
          },
        ],
      },
      { version: "v1beta1", freshness: "Current", resources: [author("v1beta1")] },
    ]);
  });

  it("has the core group alone, in the older form too", () => {
    const document = aggregatedDiscoveryDocument(resources, { version: "v2beta1", core: true });
    expect(document.apiVersion).to.equal("apidiscovery.k8s.io/v2beta1");
    expect(document.items.map(({ metadata }) => metadata.name)).to.deep.equal([""]);
    expect(document.items[0]?.versions.map(({ version }) => version)).to.deep.equal(["v1"]);
  });

  it("has only an empty core group if nothing is served, which kubectl needs for its lists", () => {
    expect(aggregatedDiscoveryDocument([], { version: "v2", core: false }).items).to.deep.equal([]);
    expect(aggregatedDiscoveryDocument([], { version: "v2", core: true }).items).to.deep.equal([
      { metadata: { name: "" }, versions: [{ version: "v1", resources: [], freshness: "Current" }] },
    ]);
  });
});

describe("discovery documents", () => {
  it("do not depend on the order of resources and verbs", () => {
    const documents = (served: readonly DiscoveredResource[]): string =>
      JSON.stringify([
        apiGroupListDocument(served),
        apiGroupDocument(served, "example.dev"),
        apiResourceListDocument(served, { group: "example.dev", version: "v1" }),
        aggregatedDiscoveryDocument(served, { version: "v2", core: false }),
      ]);
    const expected = documents(resources);
    fc.assert(
      fc.property(fc.shuffledSubarray(resources, { minLength: resources.length }), (shuffled) => {
        const turned = shuffled.map((resource) => ({ ...resource, verbs: resource.verbs.toReversed() }));
        expect(documents(turned)).to.equal(expected);
      }),
    );
  });
});

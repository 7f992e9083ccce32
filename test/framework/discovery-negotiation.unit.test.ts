import { expect } from "chai";
import * as fc from "fast-check";
import { etagMatches, etagOf } from "../../packages/framework/src/discovery/discovery-documents.ts";
import { discoveryContentType, negotiateDiscovery } from "../../packages/framework/src/discovery/negotiation.ts";
import { accepts, parseAccept } from "../../packages/framework/src/encode/representation.ts";
import { BoundedCache } from "../../packages/framework/src/util/bounded-cache.ts";

const AGGREGATED = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

describe("Accept headers", () => {
  const order = (header: string): string[] => parseAccept(header).map(({ type, subtype }) => `${type}/${subtype}`);

  it("are parsed best first: by quality, then specificity, then order", () => {
    expect(order("a/b;q=0.5, */*, c/*, c/d, e/f;q=0.9")).to.deep.equal(["c/d", "c/*", "*/*", "e/f", "a/b"]);
    expect(order("b/b,a/a")).to.deep.equal(["b/b", "a/a"]);
  });

  it("lose ranges with quality 0 and malformed ones", () => {
    expect(order("a/b;q=0, c, /d, e/, f/g/h, ,;, i/j;q=x")).to.deep.equal(["i/j"]);
  });

  it("accept everything when empty or missing", () => {
    for (const header of [undefined, "", " "]) expect(order(header ?? "")).to.deep.equal(["*/*"]);
    expect(parseAccept(undefined)).to.have.length(1);
  });

  it("have parameters with names in lower case", () => {
    const [range] = parseAccept('Application/JSON; AS="Table" ;v=V1;flag; q=0.3');
    expect(range).to.deep.include({ type: "application", subtype: "json", quality: 0.3 });
    expect({ ...range?.parameters }).to.deep.equal({ as: "Table", v: "V1" });
  });

  it("match a type by name or wildcard", () => {
    const covers = (header: string): boolean =>
      parseAccept(header).some((range) => accepts(range, "application", "json"));
    expect(["application/json", "application/*", "*/*"].every(covers)).to.equal(true);
    expect(["*/json", "text/*", "application/jso"].some(covers)).to.equal(false);
  });
});

describe("negotiation of discovery", () => {
  const json = { encoding: "json", aggregated: undefined };
  const yaml = { encoding: "yaml", aggregated: undefined };
  const table: readonly [string | undefined, object | undefined, object | undefined][] = [
    // header, at /apis, at /apis/example.dev
    [undefined, json, json],
    ["*/*", json, json],
    ["application/*", json, json],
    ["application/yaml", yaml, yaml],
    ["application/yaml;q=0.5,application/json", json, json],
    [`application/json;${AGGREGATED}`, { encoding: "json", aggregated: "v2" }, undefined],
    [`application/json;${AGGREGATED};profile=nopeer`, { encoding: "json", aggregated: "v2" }, undefined],
    [`application/yaml;${AGGREGATED}`, { encoding: "yaml", aggregated: "v2" }, undefined],
    // As in Kubernetes, any mention of it suffices.
    [`application/json,application/json;${AGGREGATED};q=0.1`, { encoding: "json", aggregated: "v2" }, json],
    [`application/vnd.kubernetes.protobuf;${AGGREGATED},application/json`, json, json],
    [`application/json;${AGGREGATED.replace("v2", "v3")},application/json`, json, json],
    ["application/json;as=Table;v=v1;g=meta.k8s.io", undefined, undefined],
    ["application/json;as=Table;v=v1;g=meta.k8s.io,application/yaml", yaml, yaml],
    ["application/cbor", undefined, undefined],
    ["text/html", undefined, undefined],
    ["application/json;q=0", undefined, undefined],
  ];
  for (const [header, root, group] of table) {
    it(`of ${header}`, () => {
      expect(negotiateDiscovery(header, true)).to.deep.equal(root);
      expect(negotiateDiscovery(header, false)).to.deep.equal(group);
    });
  }

  it("never throws, and chooses only formats that were requested", () => {
    const part = fc.constantFrom(
      "application",
      "json",
      "yaml",
      "*",
      "/",
      ";",
      ",",
      "q=",
      "0.5",
      "as=",
      "g=",
      " ",
      '"',
      "=",
    );
    void fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), fc.boolean(), (parts, aggregates) => {
        const header = parts.join("");
        const format = negotiateDiscovery(header, aggregates);
        if (format === undefined) return;
        const [type = "", subtype = ""] = (discoveryContentType(format).split(";")[0] ?? "").split("/");
        expect(parseAccept(header).some((range) => accepts(range, type, subtype))).to.equal(true);
      }),
    );
  });
});

describe("ETags", () => {
  const etag = etagOf("content");

  it("match If-None-Match by value, weakly, in a list, or by the wildcard", () => {
    for (const header of [etag, `W/${etag}`, `"x", ${etag}`, "*", ` ${etag} `])
      expect(etagMatches(header, etag), header).to.equal(true);
  });

  it("do not match others", () => {
    for (const header of [undefined, "", '"x"', etag.slice(1, -1), etag.toLowerCase(), `${etag}x`])
      expect(etagMatches(header, etag), header).to.equal(false);
  });
});

describe("the cache of documents", () => {
  it("keeps the most recently used documents within its capacity", () => {
    const cache = new BoundedCache<string>({ capacity: 3 });
    const made: string[] = [];
    const get = (key: string): string =>
      cache.get(key, () => {
        made.push(key);
        return key;
      });
    for (const key of ["a", "b", "c", "a", "d", "a", "b"]) get(key);
    expect(made).to.deep.equal(["a", "b", "c", "d", "b"]);
    expect(cache.size).to.equal(3);
  });

  it("counts sizes, and never exceeds its capacity", () => {
    const cache = new BoundedCache<string>({ capacity: 10, weigh: (value) => value.length });
    cache.get("small", () => "x");
    expect(cache.get("big", () => "x".repeat(11))).to.have.length(11);
    expect(cache.get("small", () => "made again")).to.equal("x");
    expect(cache.size).to.equal(1);
    for (let i = 0; i < 100; i++) cache.get(`${i}`, () => "abc");
    expect(cache.size).to.equal(3);
  });

  it("keeps nothing when creating a document fails", () => {
    const cache = new BoundedCache<string>({ capacity: 1 });
    const fail = (): string => {
      throw new Error("no");
    };
    expect(() => cache.get("a", fail)).to.throw("no");
    expect(cache.get("a", () => "made")).to.equal("made");
  });
});

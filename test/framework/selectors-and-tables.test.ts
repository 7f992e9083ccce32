// What the conformance suite found wrong with the framework.
import {
  authenticated,
  defineResource,
  defineVirtualWorkspace,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { expect } from "chai";
import { startPlain } from "../_support/plain.ts";

const PATH = "/services/quotes/clusters/root/apis/example.dev/v1/quotes";
const TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1";
const WATCH_LIST = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

function quotesView(): VirtualWorkspace {
  const Quote = defineResource({
    group: "example.dev",
    version: "v1",
    kind: "Quote",
    scope: "Cluster",
    spec: { type: "object", properties: { text: { type: "string" }, author: { type: "string" } } },
    selectableFields: [".spec.author"],
  });
  const quotes = Quote.collection();
  quotes.in("root").set("ssh", { text: "Edit is the new ssh.", author: "kubectl" });
  return defineVirtualWorkspace({
    name: "quotes",
    path: "/clusters/:cluster",
    authorize: authenticated(),
    resources: [Quote.serve(quotes)],
  });
}

describe("field selectors", () => {
  for (const watch of ["", "watch=true&timeoutSeconds=1&"]) {
    it(`on a field that is not selectable are 400${watch === "" ? "" : " for watches too"}`, async () => {
      await using server = await startPlain([quotesView()]);
      for (const field of ["spec.auhtor", "metadata.namespace", "spec"]) {
        const { status, body } = await server.get(`${PATH}?${watch}fieldSelector=${field}=x`);
        expect(status, field).to.equal(400);
        expect(body.message).to.equal(`field label not supported: ${field}; use one of metadata.name, spec.author`);
      }
    });
  }

  it("on selectable fields select", async () => {
    await using server = await startPlain([quotesView()]);
    const { body } = await server.get(`${PATH}?fieldSelector=spec.author=kubectl,metadata.name=ssh`);
    expect(body.items).to.have.length(1);
  });
});

describe("Tables", () => {
  for (const [include, kind] of [
    ["None", "PartialObjectMetadata"],
    ["Metadata", "PartialObjectMetadata"],
    ["Object", "Quote"],
  ]) {
    it(`with includeObject=${include} carry the annotation of the bookmark that ends initial events`, async () => {
      await using server = await startPlain([quotesView()]);
      await using watch = await server.watch(`${PATH}?${WATCH_LIST}&includeObject=${include}`, {
        headers: { accept: TABLE },
      });
      const events = await watch.until(({ type }) => type === "BOOKMARK");
      expect(events.at(-1)?.object).to.have.nested.property("rows[0].object.kind", kind);
      expect(events.at(-1)?.object)
        .to.have.nested.property("rows[0].object.metadata.annotations")
        .that.deep.equals({ "k8s.io/initial-events-end": "true" });
    });
  }

  it("of v1beta1 are passed over, not answered as v1", async () => {
    await using server = await startPlain([quotesView()]);
    const accept = TABLE.replace("v=v1", "v=v1beta1");
    expect((await server.get(PATH, { headers: { accept } })).status).to.equal(406);
    expect((await server.get(PATH, { headers: { accept: `${accept},application/json` } })).body.kind).to.equal(
      "QuoteList",
    );
  });
});

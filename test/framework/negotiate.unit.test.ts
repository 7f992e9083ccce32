// Format of objects, lists and watches for any Accept header.
import { ApiError } from "@virtual-workspaces/apimachinery";
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import fc from "fast-check";
import { type AnswerKind, negotiate } from "../../packages/framework/src/encode/representation.ts";
import { computed } from "../_support/cpu.ts";
import { Note } from "../_support/note.ts";
import { startPlain } from "../_support/plain.ts";

const KINDS: readonly AnswerKind[] = ["object", "list", "stream"];
const META = "g=meta.k8s.io;v=v1";

/** `json`, `yaml`, `json Table`, ..., or the code of the rejection. */
function form(accept: string | undefined, kind: AnswerKind): string {
  try {
    const { format, as, drop } = negotiate(accept, kind);
    return [format, ...(as === undefined ? [] : [as]), ...(drop === true ? ["drop"] : [])].join(" ");
  } catch (error) {
    expect(error).to.be.instanceOf(ApiError);
    return String((error as ApiError).code);
  }
}

describe("negotiation", () => {
  // Accept, then the form of an object, a list and a watch.
  const table: Record<string, readonly [string, string, string]> = {
    "": ["json", "json", "json"],
    "*/*": ["json", "json", "json"],
    "application/*": ["json", "json", "json"],
    "application/json": ["json", "json", "json"],
    "APPLICATION/JSON": ["json", "json", "json"],
    "application/json;stream=watch": ["json", "json", "json"],
    "application/json;charset=utf-8, text/html": ["json", "json", "json"],
    "application/yaml": ["yaml", "yaml", "406"],
    "application/yaml,application/json": ["yaml", "yaml", "json"],
    "application/json;q=0.1,application/yaml": ["yaml", "yaml", "json"],
    // CBOR only where it is named; protobuf not for custom kinds, as in Kubernetes.
    "application/vnd.kubernetes.protobuf": ["406", "406", "406"],
    "application/vnd.kubernetes.protobuf,application/json": ["json", "json", "json"],
    "application/vnd.kubernetes.protobuf, */*": ["json", "json", "json"],
    "application/cbor": ["cbor", "cbor", "cbor"],
    "application/cbor;drop=metadata.managedFields": ["cbor drop", "cbor drop", "cbor drop"],
    "application/json;q=0.9,application/cbor;q=1": ["cbor", "cbor", "cbor"],
    "application/json, application/cbor": ["json", "json", "json"],
    [`application/cbor;as=Table;${META}`]: ["cbor Table", "cbor Table", "cbor Table"],
    "application/cbor-seq,application/json": ["json", "json", "json"],
    "text/html": ["406", "406", "406"],
    "text/*": ["406", "406", "406"],
    "*/json": ["406", "406", "406"],
    "application/json;q=0": ["406", "406", "406"],
    "*/*;q=0": ["406", "406", "406"],
    [`application/json;as=Table;${META}`]: ["json Table", "json Table", "json Table"],
    [`application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`]: ["json", "json", "json"],
    [`application/json;as=Table;${META},application/json`]: ["json Table", "json Table", "json Table"],
    [`application/json;as=Table;v=v1;g=other`]: ["406", "406", "406"],
    "application/json;drop=metadata.managedFields": ["json drop", "json drop", "json drop"],
    "application/json; drop=metadata.managedFields,*/*; drop=metadata.managedFields": [
      "json drop",
      "json drop",
      "json drop",
    ],
    "application/yaml;drop=metadata.managedFields": ["yaml drop", "yaml drop", "406"],
    "application/json;drop=": ["json", "json", "json"],
    "application/json;drop=spec": ["406", "406", "406"],
    "application/json;drop=metadata.managedFields+spec": ["406", "406", "406"],
    "application/json;drop=spec, application/json": ["json", "json", "json"],
    [`application/json;as=Table;${META};drop=metadata.managedFields`]: [
      "json Table drop",
      "json Table drop",
      "json Table drop",
    ],
    [`application/json;as=Table`]: ["406", "406", "406"],
    [`application/json;as=Chair;${META}`]: ["406", "406", "406"],
    [`application/json;as=Chair;${META},application/yaml`]: ["yaml", "yaml", "406"],
    [`application/json;as=PartialObjectMetadata;${META}`]: [
      "json PartialObjectMetadata",
      "406",
      "json PartialObjectMetadata",
    ],
    [`application/json;as=PartialObjectMetadataList;${META}`]: ["406", "json PartialObjectMetadataList", "406"],
    [`application/yaml;as=Table;${META}`]: ["yaml Table", "yaml Table", "406"],
    [`application/vnd.kubernetes.protobuf;as=Table;${META},application/json;as=Table;${META}`]: [
      "json Table",
      "json Table",
      "json Table",
    ],
  };
  for (const [accept, expected] of Object.entries(table)) {
    it(`of ${JSON.stringify(accept)} is ${expected.join(", ")}`, () =>
      expect(KINDS.map((kind) => form(accept, kind))).to.deep.equal(expected));
  }

  const type = fc.constantFrom("application", "*", "text", "APPLICATION", "");
  const subtype = fc.constantFrom("json", "yaml", "*", "cbor", "vnd.kubernetes.protobuf", "");
  const parameter = fc.oneof(
    fc.constantFrom(
      "as=Table",
      "as=PartialObjectMetadata",
      "as=x",
      "g=meta.k8s.io",
      "v=v1",
      "v=v2",
      "q=0",
      "q=0.5",
      "q=x",
    ),
    fc.string({ maxLength: 6 }),
  );
  const range = fc
    .tuple(type, subtype, fc.array(parameter, { maxLength: 4 }))
    .map(([left, right, rest]) => [`${left}/${right}`, ...rest].join(";"));
  const header = fc.oneof(
    fc.array(fc.oneof(range, fc.string({ maxLength: 9 })), { maxLength: 6 }).map((ranges) => ranges.join(",")),
    fc.string(),
  );
  const kind = fc.constantFrom(...KINDS);

  it("ends with an existing format, or with 406", () => {
    fc.assert(
      fc.property(header, kind, (accept, of) => {
        const partial = of === "list" ? "PartialObjectMetadataList" : "PartialObjectMetadata";
        const forms = ["json", "yaml", "cbor"].flatMap((one) => [one, `${one} Table`, `${one} ${partial}`]);
        expect([...forms, "406"]).to.include(form(accept, of));
        if (of === "stream") expect(form(accept, of)).not.to.match(/yaml/);
      }),
      { numRuns: 10_000 },
    );
  });

  it("never returns an unaccepted format, and never rejects a client that accepts anything", () => {
    fc.assert(
      fc.property(header, kind, (accept, of) => {
        const text = accept.toLowerCase();
        const found = form(accept, of);
        if (found.startsWith("yaml")) expect(text).to.match(/application\/yaml/);
        if (found.startsWith("cbor")) expect(text).to.match(/application\/cbor/);
        if (found.includes(" ")) expect(text).to.include("as=");
        expect(form(`${accept},*/*;q=0.001`, of)).not.to.equal("406");
      }),
      { numRuns: 10_000 },
    );
  });

  it("is fast for the largest possible header", () => {
    const size = 2 ** 20;
    for (const piece of ["a/b,", ",", ";", "a/b;", "application/json;as=x,", "q=0.1;", '"', "=", "*/*;q=0,", " "]) {
      const began = computed();
      for (const of of KINDS) form(piece.repeat(size / piece.length), of);
      expect(computed() - began, piece).to.be.below(3000);
    }
  });
});

describe("negotiated responses", () => {
  const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";

  it("name their format in Content-Type, and the alternatives in a 406", async () => {
    const notes = Note.collection();
    notes.in("root").set("a", { text: "x: [y" });
    const view = defineVirtualWorkspace({
      name: "notes",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      resources: [Note.serve(notes)],
    });
    await using server = await startPlain([view]);
    const ask = async (path: string, accept: string) => {
      const { status, headers, text } = await server.get(path, { headers: { accept } });
      return { status, type: headers["content-type"], text };
    };
    const yaml = await ask(`${NOTES}/a`, "application/yaml");
    expect(yaml).to.include({ status: 200, type: "application/yaml" });
    expect(yaml.text)
      .to.match(/^apiVersion: test.dev\/v1\nkind: Note\n/)
      .and.to.include('text: "x: [y"');
    const list = await ask(NOTES, "application/yaml");
    expect(list.text).to.match(/^kind: NoteList\n/);
    const watch = await ask(`${NOTES}?watch=true`, "application/yaml");
    expect(watch).to.include({ status: 406, type: "application/json" });
    expect(watch.text).to.include(
      "only the following media types are accepted: application/json, application/cbor-seq",
    );
    const object = await ask(`${NOTES}/a`, "text/html");
    expect(object.text)
      .to.include("application/json, application/yaml, application/cbor")
      .and.to.include('"reason":"NotAcceptable"');
    // An error is a Status in JSON, unless the client prefers CBOR.
    expect(await ask(`${NOTES}/b`, "application/yaml")).to.include({ status: 404, type: "application/json" });
  });
});

import { defineResource, type ResourceOptions } from "@virtual-workspaces/framework";
import { expect } from "chai";

type Options = Partial<ResourceOptions<never, never, never>> & { readonly spec?: object; readonly schema?: object };

const SPEC = {
  type: "object",
  properties: {
    text: { type: "string" },
    counts: { type: "array", items: { type: "object", properties: { n: { type: "integer" } } } },
    labels: { type: "object", additionalProperties: { type: "string" } },
    open: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    any: { type: "object" },
  },
} as const;

function define(options: Options): void {
  const all = { group: "example.dev", version: "v1", kind: "Quote", scope: "Cluster", spec: SPEC, ...options };
  defineResource(all as unknown as ResourceOptions<never, never, never>);
}

function errorOf(options: Options): string {
  try {
    define(options);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}

const COLUMNS: Readonly<Record<string, string>> = {
  ".spec.txet":
    'Quote: column "Text": .spec.txet is not in the schema: .spec has no field .txet: did you mean .spec.text?',
  ".sepc.text":
    'Quote: column "Text": .sepc.text is not in the schema: the object has no field .sepc: did you mean .spec?',
  ".status.phase":
    'Quote: column "Text": .status.phase is not in the schema: the object has no field .status: use one of .spec',
  ".metadata.nmae":
    'Quote: column "Text": .metadata.nmae is not in the schema: .metadata has no field .nmae: did you mean .metadata.name?',
  ".spec.counts[0].m":
    'Quote: column "Text": .spec.counts[0].m is not in the schema: .spec.counts[] has no field .m: use one of .n',
  ".spec.counts.n":
    'Quote: column "Text": .spec.counts.n does not fit the schema: .spec.counts is a list: use [0] or [*]',
  ".spec.text[0]": 'Quote: column "Text": .spec.text[0] does not fit the schema: .spec.text is no list',
  ".spec.text.words": 'Quote: column "Text": .spec.text.words is not in the schema: .spec.text has no fields',
  "spec.text": `Quote: column "Text": JSONPath "spec.text": expected '.' or '[' at position 0: write .spec.text`,
  ".spec.": `Quote: column "Text": JSONPath ".spec.": expected a field name at position 6`,
};

describe("defineResource", () => {
  for (const [path, message] of Object.entries(COLUMNS)) {
    it(`rejects a column with the path ${path}`, () => {
      expect(errorOf({ columns: { Text: path } })).to.equal(message);
      expect(errorOf({ columns: { Text: { jsonPath: path } } })).to.equal(message);
      expect(errorOf({ selectableFields: [path] })).to.equal(message.replace('column "Text"', "selectableFields"));
    });
  }

  it("accepts paths that lead to a field, or to where the schema leaves fields open", () => {
    for (const path of [
      ".spec.text",
      ".spec.counts[0].n",
      ".spec.counts[*].n",
      ".spec.counts[?(@.n==1)].n",
      ".spec.labels.anything",
      ".spec.labels['app.kubernetes.io/name']",
      ".spec.open.a.b[0]",
      ".spec.any.a",
      ".spec.*",
      ".metadata.labels.app",
      ".metadata.ownerReferences[0].name",
      ".kind",
      "['spec'].text",
    ])
      expect(errorOf({ columns: { Text: path }, selectableFields: [path] }), path).to.equal("");
    const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    expect(errorOf({ spec: undefined as never, schema: open as never, columns: { Phase: ".status.phase" } })).to.equal(
      "",
    );
  });

  const LETTERS = 'use lower case letters, digits and "-", beginning with a letter, as "quotes"';
  const KIND = 'use letters and digits that begin with an upper case letter, as "Quote"';
  const NAMES: readonly (readonly [Options, string])[] = [
    [{ kind: "quote" }, `quote: invalid kind "quote": ${KIND}`],
    [{ kind: "" }, `defineResource: invalid kind "": ${KIND}`],
    [{ listKind: "Quote List" }, `Quote: invalid listKind "Quote List": ${KIND}`],
    [{ plural: "Quotes" }, `Quote: invalid plural "Quotes": ${LETTERS}`],
    [{ plural: "quotes/status" }, `Quote: invalid plural "quotes/status": ${LETTERS}`],
    [{ plural: "q".repeat(64) }, `Quote: invalid plural "${"q".repeat(64)}": ${LETTERS}`],
    [{ singular: "a quote" }, `Quote: invalid singular "a quote": ${LETTERS}`],
    [{ shortNames: ["q", "Q"] }, `Quote: invalid shortNames "Q": ${LETTERS}`],
    [{ categories: ["All"] }, `Quote: invalid categories "All": ${LETTERS}`],
    [{ version: "1.0" }, 'Quote: invalid version "1.0": use lower case letters and digits, as "v1" or "v1alpha1"'],
    [
      { version: "example.dev/v1" },
      'Quote: invalid version "example.dev/v1": use lower case letters and digits, as "v1" or "v1alpha1"',
    ],
    [
      { group: "example.dev/v1" },
      'Quote: invalid group "example.dev/v1": use a DNS name in lower case, as "example.dev", or "" for the core group',
    ],
  ];
  for (const [options, message] of NAMES) {
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(errorOf(options)).to.equal(message);
    });
  }
});

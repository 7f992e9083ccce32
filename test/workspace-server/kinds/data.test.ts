// Why: keys, sizes, types and immutability of ConfigMaps and Secrets, with Kubernetes' messages.
import { expect } from "chai";
import { MERGE } from "../../_support/patches.ts";
import { outcome, type PlainServer, startPlain } from "../../_support/plain.ts";
import { KINDS, kindsView } from "./served.ts";

describe("ConfigMaps and Secrets", () => {
  let server: PlainServer;
  before(async () => {
    server = await startPlain([kindsView()]);
  });
  after(() => server[Symbol.asyncDispose]());

  const of = (plural: string) => `${KINDS}/api/v1/namespaces/n/${plural}` as const;
  const make = async (kind: "ConfigMap" | "Secret", content: object, name = "x"): Promise<unknown[]> => {
    const plural = `${kind.toLowerCase()}s`;
    const answer = await server.send(`POST ${of(plural)}`, { apiVersion: "v1", kind, metadata: { name }, ...content });
    if (answer.status === 201) await server.send(`DELETE ${of(plural)}/${name}`);
    return outcome(answer);
  };
  const invalid = (kind: string, message: string): unknown[] => [422, "Invalid", `${kind} "x" is invalid: ${message}`];
  it("are rejected with 400 where a value has another type, and with 422 after a patch, as in Kubernetes", async () => {
    const text =
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: data.a: Invalid value: "integer": data.a in body must be of type string: "integer"';
    expect(await make("ConfigMap", { data: { a: 1 } })).to.deep.equal([400, "BadRequest", text]);
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "typed" } };
    const { body } = await server.send(`POST ${of("configmaps")}`, map);
    const at = `${of("configmaps")}/typed` as const;
    const put = await server.send(`PUT ${at}`, { ...body, data: { a: 1 } });
    expect(outcome(put)).to.deep.equal([400, "BadRequest", text]);
    const patched = await server.send(`PATCH ${at}`, { data: { a: 1 } }, MERGE);
    expect(outcome(patched).slice(0, 2)).to.deep.equal([422, "Invalid"]);
  });

  const KEY =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
  const text = (value: string): string => Buffer.from(value).toString("base64");

  const refused: [string, "ConfigMap" | "Secret", object, string][] = [
    ["an invalid character in a key", "ConfigMap", { data: { "a b": "" } }, `data[a b]: Invalid value: "a b": ${KEY}`],
    [
      "a key that starts with ..",
      "Secret",
      { data: { "..a": "" } },
      `data[..a]: Invalid value: "..a": must not start with '..'`,
    ],
    [
      "a duplicate key",
      "ConfigMap",
      { data: { a: "" }, binaryData: { a: "" } },
      'data[a]: Invalid value: "a": duplicate of key present in binaryData',
    ],
    [
      "more than a MiB",
      "ConfigMap",
      { data: { a: "ü".repeat(524_289) } },
      "[]: Too long: may not be more than 1048576 bytes",
    ],
    [
      "more than a MiB",
      "Secret",
      { data: { a: text("u".repeat(1_048_577)) } },
      "data: Too long: may not be more than 1048576 bytes",
    ],
    [
      "a token of no service account",
      "Secret",
      { type: "kubernetes.io/service-account-token" },
      "metadata.annotations[kubernetes.io/service-account.name]: Required value",
    ],
    [
      "an incomplete key pair",
      "Secret",
      { type: "kubernetes.io/tls", stringData: { "tls.crt": "" } },
      "data[tls.key]: Required value",
    ],
    ["an empty key", "Secret", { type: "kubernetes.io/ssh-auth" }, "data[ssh-privatekey]: Required value"],
    [
      "neither username nor password",
      "Secret",
      { type: "kubernetes.io/basic-auth" },
      "[data[username]: Required value, data[password]: Required value]",
    ],
    ["no configuration", "Secret", { type: "kubernetes.io/dockercfg" }, "data[.dockercfg]: Required value"],
    [
      "a configuration that is not an object",
      "Secret",
      { type: "kubernetes.io/dockerconfigjson", stringData: { ".dockerconfigjson": '"secret"' } },
      'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": json: cannot unmarshal string into Go value of type map[string]interface {}',
    ],
    [
      "a finalizer without a domain",
      "ConfigMap",
      { metadata: { name: "x", finalizers: ["a"] } },
      'metadata.finalizers[0]: Invalid value: "a": name is neither a standard finalizer name nor is it fully qualified',
    ],
  ];
  for (const [what, kind, content, message] of refused)
    it(`reject a ${kind} with ${what}`, async () => {
      expect(await make(kind, content)).to.deep.equal(invalid(kind, message));
    });

  it("accept exactly 1 MiB, and base64 with line breaks", async () => {
    expect((await make("ConfigMap", { data: { a: "u".repeat(1_048_576) } }))[0]).to.equal(201);
    expect((await make("Secret", { data: { a: "YWJj\nYWJj" } }))[0]).to.equal(201);
  });

  it("report the position of invalid base64", async () => {
    const message = (at: number): string =>
      `Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte ${at}`;
    for (const [value, at] of [
      ["a*bc", 1],
      ["abcde", 4],
      ["=abc", 0],
    ] as const)
      expect(await make("Secret", { data: { a: value } })).to.deep.equal([400, "BadRequest", message(at)]);
  });

  it("reject changes of immutable fields", async () => {
    const fixed = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "fixed" },
      data: { a: "1" },
      immutable: true,
    };
    await server.send(`POST ${of("configmaps")}`, fixed);
    const change = async (next: object): Promise<unknown[]> =>
      outcome(await server.send(`PUT ${of("configmaps")}/fixed`, { ...fixed, ...next }));
    const set = "Forbidden: field is immutable when `immutable` is set";
    const message = (text: string): unknown[] => [422, "Invalid", `ConfigMap "fixed" is invalid: ${text}`];
    expect(await change({ data: { a: "2" } })).to.deep.equal(message(`data: ${set}`));
    expect(await change({ immutable: false })).to.deep.equal(message(`immutable: ${set}`));
    expect((await change({ metadata: { name: "fixed", labels: { a: "b" } } }))[0]).to.equal(200);
  });

  it("merge write-only fields, and keep the type", async () => {
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, data: { a: text("1"), b: text("2") } };
    const made = await server.send(`POST ${of("secrets")}`, { ...secret, stringData: { b: "3" } });
    expect(made.body)
      .to.deep.include({ type: "Opaque", data: { a: text("1"), b: text("3") } })
      .and.not.have.property("stringData");
    const owned = made.body.metadata.managedFields[0].fieldsV1;
    expect(owned).to.deep.equal({ "f:data": { ".": {}, "f:a": {}, "f:b": {} }, "f:type": {} });
    const other = await server.send(`PUT ${of("secrets")}/s`, { ...secret, type: "other" });
    expect(other.body.message).to.equal('Secret "s" is invalid: type: Invalid value: "other": field is immutable');
  });
});

// The installed kubectl reads discovery and OpenAPI. Skipped without kubectl.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { allow, defineVirtualWorkspace, User } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { type PlainServer, startPlain } from "../_support/plain.ts";
import { Author, ConfigMap, Quote } from "./openapi-fixtures.ts";

const run = promisify(execFile);
const KUBECTL = process.env["KUBECTL"] ?? "kubectl";

const view = defineVirtualWorkspace({
  name: "quotes",
  path: "/clusters/:cluster",
  authorize: () => allow(),
  resources: [
    Quote.serve(Quote.collection()),
    Author.serve(Author.collection()),
    ConfigMap.serve(ConfigMap.collection()),
  ],
});

/** kubectl sends no credentials over plain HTTP. */
const anybody = { name: "anybody", authenticate: () => new User({ name: "kubectl" }) };

const EXPLAINED = `GROUP:      example.dev
KIND:       Quote
VERSION:    v1

DESCRIPTION:
    Something somebody said.
FIELDS:
  apiVersion	<string>
  kind	<string>
  metadata	<ObjectMeta>
    annotations	<map[string]string>
    creationTimestamp	<string>
    deletionGracePeriodSeconds	<integer>
    deletionTimestamp	<string>
    finalizers	<[]string>
    generateName	<string>
    generation	<integer>
    labels	<map[string]string>
    managedFields	<[]ManagedFieldsEntry>
      apiVersion	<string>
      fieldsType	<string>
      fieldsV1	<FieldsV1>
      manager	<string>
      operation	<string>
      subresource	<string>
      time	<string>
    name	<string>
    namespace	<string>
    ownerReferences	<[]OwnerReference>
      apiVersion	<string> -required-
      blockOwnerDeletion	<boolean>
      controller	<boolean>
      kind	<string> -required-
      name	<string> -required-
      uid	<string> -required-
    resourceVersion	<string>
    selfLink	<string>
    uid	<string>
  spec	<Object> -required-
    author	<string>
    text	<string> -required-`;

describe("kubectl", () => {
  let server: PlainServer;
  let home: string;

  before(async function () {
    await run(KUBECTL, ["version", "--client"]).catch(() => this.skip());
    home = await mkdtemp(join(tmpdir(), "kubectl-"));
    server = await startPlain([view], { authentication: [anybody] });
  });

  after(async () => {
    await server?.[Symbol.asyncDispose]();
    if (home !== undefined) await rm(home, { recursive: true });
  });

  async function kubectl(...args: string[]): Promise<string> {
    const flags = [`--server=${server.url}/services/quotes/clusters/root`, `--cache-dir=${join(home, "cache")}`];
    const { stdout } = await run(KUBECTL, [...args, ...flags], { env: { ...process.env, HOME: home, KUBECONFIG: "" } });
    return stdout
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n");
  }

  it("lists every kind with api-resources", async () => {
    const lines = (await kubectl("api-resources", "--no-headers")).trimEnd().split("\n");
    expect(lines.map((line) => line.split(/\s+/).join(" "))).to.have.members([
      "configmaps v1 true ConfigMap",
      "authors example.dev/v1 true Author",
      "quotes qu example.dev/v1 false Quote",
    ]);
  });

  it("explains a whole kind with --recursive", async () => {
    const told = await kubectl("explain", "--recursive", "quotes");
    expect(told.replaceAll(/\n+(?=FIELDS)/g, "\n").trimEnd()).to.equal(EXPLAINED);
  });

  it("explains a field, also of the core group and of metadata", async () => {
    expect(await kubectl("explain", "qu.spec.text")).to.match(/FIELD: text <string>\n.*The words\./s);
    expect(await kubectl("explain", "configmaps.data")).to.match(/FIELD: data <map\[string\]string>/);
    expect(await kubectl("explain", "authors.metadata.ownerReferences.uid")).to.match(/UID of the owner\./);
  });

  it("reads OpenAPI v2 in protobuf to explain a kind", async () => {
    const told = await kubectl("explain", "--recursive", "quotes", "--output=plaintext-openapiv2");
    expect(told).to.match(/^KIND: +Quote\nVERSION: +example\.dev\/v1$/m);
    expect(told).to.match(/^ +spec\t<Object>\n +author\t<string>\n +text\t<string>$/m);
  });
});

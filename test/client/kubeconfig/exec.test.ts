// Credential plugins, run as real programs.
import { execFile } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@virtual-workspaces/client";
import { staticTokens } from "@virtual-workspaces/framework";
import { clientCertificates } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { type Tree, tree } from "../../_setup/tree.ts";
import { createAuthority, startTls, type TlsServer } from "../../_support/server.ts";
import { type Whoami, whoami } from "../../_support/whoami.ts";
import { rejected } from "../thrown.ts";

const run = promisify(execFile);
const VERSION = "client.authentication.k8s.io/v1";

describe("a credential plugin", () => {
  const authority = createAuthority();
  let server: TlsServer;
  let folder: Tree;
  before(async () => {
    const known = { "token-1": { name: "one" }, "token-2": { name: "two" } };
    server = await startTls([whoami()], {
      authority,
      authentication: [clientCertificates({ ca: authority.ca }), staticTokens(known)],
    });
  });
  after(() => server.close());
  beforeEach(() => {
    folder = tree({});
  });
  afterEach(() => folder[Symbol.dispose]());

  const credential = (status: object, apiVersion = VERSION): string =>
    JSON.stringify({ kind: "ExecCredential", apiVersion, status });

  /** Writes a plugin that counts its runs and prints a result, and a kubeconfig that uses it. */
  function plugin(script: string, exec: object = {}, more: { user?: object; cluster?: object } = {}): string {
    const path = join(folder.path, "plugin");
    writeFileSync(path, `#!/bin/sh\necho run >>"${folder.path}/runs"\n${script}\n`);
    chmodSync(path, 0o755);
    const file = join(folder.path, "config");
    const cluster = {
      server: `https://127.0.0.1:${server.port}/services/who`,
      ...(more.cluster ?? { "certificate-authority-data": Buffer.from(authority.ca).toString("base64") }),
      extensions: [{ name: "client.authentication.k8s.io/exec", extension: { region: "north" } }],
    };
    const user = {
      exec: { apiVersion: VERSION, command: "./plugin", interactiveMode: "Never", ...exec },
      ...more.user,
    };
    const config = {
      "current-context": "c",
      clusters: [{ name: "k", cluster }],
      users: [{ name: "u", user }],
      contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
    };
    writeFileSync(file, JSON.stringify(config));
    return file;
  }

  const runs = (): number => readFileSync(join(folder.path, "runs"), "utf8").split("\n").length - 1;
  const print = (text: string): string => `cat <<'END'\n${text}\nEND`;
  const open = (file: string): Promise<Client> =>
    Client.fromKubeconfig({ file, env: { ...process.env, SECRET: "env-secret" }, retries: false });
  async function name(client: Client): Promise<string | number> {
    const { status, body } = await client.upstream.send({ path: "/x" });
    return status === 200 ? (JSON.parse(body.toString()) as Whoami).name : status;
  }

  /** Returns the user that kubectl authenticates as. */
  async function kubectl(file: string): Promise<string> {
    const env = { PATH: process.env["PATH"], HOME: folder.path };
    const { stdout } = await run("kubectl", ["--kubeconfig", file, "get", "--raw", "/services/who/x"], { env });
    return (JSON.parse(stdout) as Whoami).name;
  }

  it("runs once for concurrent requests, with its arguments and environment, as in kubectl", async () => {
    const script = `printf %s "$KUBERNETES_EXEC_INFO" >"${folder.path}/info"\ncat <<END\n{"kind":"ExecCredential","apiVersion":"${VERSION}","status":{"token":"$1-$OWN"}}\nEND`;
    const file = plugin(script, { args: ["token"], env: [{ name: "OWN", value: "1" }], provideClusterInfo: true });
    await using client = await open(file);
    expect(await Promise.all([name(client), name(client), name(client)])).to.deep.equal(["one", "one", "one"]);
    expect(runs()).to.equal(1);
    const info = JSON.parse(readFileSync(join(folder.path, "info"), "utf8"));
    expect(await kubectl(file)).to.equal("one");
    expect(info).to.deep.equal(JSON.parse(readFileSync(join(folder.path, "info"), "utf8")));
  });

  it("receives the authorities of a CA file, as in kubectl", async () => {
    writeFileSync(join(folder.path, "ca.crt"), authority.ca);
    const script = `printf %s "$KUBERNETES_EXEC_INFO" >"${folder.path}/info"\n${print(credential({ token: "token-1" }))}`;
    const file = plugin(script, { provideClusterInfo: true }, { cluster: { "certificate-authority": "ca.crt" } });
    await using client = await open(file);
    expect(await name(client)).to.equal("one");
    const info = JSON.parse(readFileSync(join(folder.path, "info"), "utf8"));
    await kubectl(file);
    expect(info).to.deep.equal(JSON.parse(readFileSync(join(folder.path, "info"), "utf8")));
    expect(info.spec.cluster["certificate-authority-data"]).to.equal(Buffer.from(authority.ca).toString("base64"));
  });

  it("is ignored for a user who also has a token, as in kubectl", async () => {
    const file = plugin(print(credential({ token: "token-2" })), {}, { user: { token: "token-1" } });
    await using client = await open(file);
    expect([await name(client), await kubectl(file)]).to.deep.equal(["one", "one"]);
  });

  it("runs again after its credential has expired", async () => {
    const past = credential({ token: "token-1", expirationTimestamp: "2020-01-01T00:00:00Z" });
    await using client = await open(plugin(print(past)));
    expect([await name(client), await name(client)]).to.deep.equal(["one", "one"]);
    expect(runs()).to.equal(2);
    const later = credential({ token: "token-1", expirationTimestamp: "2999-01-01T00:00:00Z" });
    await using other = await open(plugin(print(later)));
    expect([await name(other), await name(other), runs()]).to.deep.equal(["one", "one", 3]);
  });

  it("runs again after a 401, and the request is retried once", async () => {
    const file = plugin(
      `if [ $(wc -l <"${folder.path}/runs") = 1 ]; then\n${print(credential({ token: "old" }))}\nelse\n${print(credential({ token: "token-2" }))}\nfi`,
    );
    await using client = await open(file);
    expect([await name(client), await name(client), runs()]).to.deep.equal(["two", "two", 2]);
  });

  it("may return client certificates", async () => {
    const { cert, key } = authority.client("ann", []);
    await using client = await open(plugin(print(credential({ clientCertificateData: cert, clientKeyData: key }))));
    expect([await name(client), await name(client), runs()]).to.deep.equal(["ann", "ann", 1]);
  });

  const failing: Readonly<Record<string, readonly [string, object, RegExp]>> = {
    "it fails": [
      "echo 'log in first' >&2; echo out-secret; exit 3",
      {},
      /exec: .*plugin failed with exit code 3: log in first$/,
    ],
    "it does not exist": [
      "",
      { command: "no-such-plugin", installHint: "get it" },
      /no-such-plugin cannot be run: ENOENT: get it$/,
    ],
    "it prints no JSON": ["echo out-secret", {}, /printed no valid ExecCredential: it is not JSON/],
    "it prints another version": [
      print(credential({ token: "out-secret" }, `${VERSION}beta1`)),
      {},
      /its apiVersion is not/,
    ],
    "it returns no credential": [print(credential({})), {}, /its status has neither token nor clientCertificateData/],
    "it returns a certificate without a key": [
      print(credential({ clientCertificateData: "out-secret" })),
      {},
      /must have both clientCertificateData and clientKeyData/,
    ],
    "it prints too much": [
      "yes out-secret",
      {},
      /plugin printed more than 1048576 bytes: check that it is a credential plugin$/,
    ],
    "it needs to prompt": [
      "",
      { interactiveMode: "Always" },
      /needs a terminal for its prompt: run this in a terminal/,
    ],
  };
  for (const [what, [script, exec, message]] of Object.entries(failing))
    it(`fails without showing secrets when ${what}`, async () => {
      const file = plugin(script, { args: ["arg-secret"], ...exec });
      await using client = await open(file);
      const error = await rejected(name(client));
      expect(error.message).to.match(message).and.include(`${file}: users[u].user.exec`).and.not.include("secret");
    });
});

// Overrides of kubeconfig fields work like kubectl's flags.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, type KubeconfigOverrides, loadKubeconfig } from "@virtual-workspaces/client";
import { expect } from "chai";
import { type Tree, tree } from "../../_setup/tree.ts";
import { startTls, type TlsServer } from "../../_support/server.ts";
import { type Whoami, whoami } from "../../_support/whoami.ts";
import { rejected } from "../thrown.ts";

const run = promisify(execFile);

describe("a kubeconfig with overrides", () => {
  let server: TlsServer;
  let folder: Tree;
  let url: string;
  before(async () => {
    server = await startTls([whoami()]);
    url = `https://127.0.0.1:${server.port}/services/who`;
    folder = tree({ "ca.crt": server.authority.ca, "other.crt": "nothing", token: "alice-token" });
    const config = {
      "current-context": "c",
      clusters: [{ name: "k", cluster: { server: "https://127.0.0.1:1", "certificate-authority": "other.crt" } }],
      users: [
        { name: "u", user: { token: "wrong" } },
        { name: "file", user: { tokenFile: "token" } },
      ],
      contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
    };
    writeFileSync(join(folder.path, "config"), JSON.stringify(config));
  });
  after(async () => {
    await server.close();
    folder[Symbol.dispose]();
  });

  const ca = (): string => join(folder.path, "ca.crt");
  const cases: Readonly<Record<string, () => readonly [KubeconfigOverrides, readonly string[]]>> = {
    "a server, its authority and a token": () => [
      { cluster: { server: url, "certificate-authority": ca() }, user: { token: "alice-token" } },
      [`--server=${url}`, `--certificate-authority=${ca()}`, "--token=alice-token"],
    ],
    "another user, without verification of the server": () => [
      { cluster: { server: url, "insecure-skip-tls-verify": true }, context: { user: "file" } },
      [`--server=${url}`, "--insecure-skip-tls-verify", "--user=file"],
    ],
  };
  for (const [what, given] of Object.entries(cases))
    it(`behaves like kubectl with ${what}`, async () => {
      const [overrides, flags] = given();
      const file = join(folder.path, "config");
      const args = ["--kubeconfig", file, ...flags, "get", "--raw", "/services/who/x"];
      const kubectls = await run("kubectl", args, { env: { PATH: process.env["PATH"], HOME: folder.path } }).then(
        ({ stdout }) => (JSON.parse(stdout) as Whoami).name,
        () => "nobody",
      );
      await using client = await Client.fromKubeconfig({ file, overrides, retries: false });
      const { status, body } = await client.upstream.send({ path: "/x", headers: [] });
      const ours = status === 200 ? (JSON.parse(body.toString()) as Whoami).name : "nobody";
      expect(ours).to.equal(kubectls);
    });

  it("prefers an overriding token over one in a file, unlike kubectl", async () => {
    const cluster = { server: url, "certificate-authority": ca() };
    const overrides = { cluster, context: { user: "file" }, user: { token: "wrong" } };
    await using client = await Client.fromKubeconfig({ file: join(folder.path, "config"), overrides, retries: false });
    expect((await client.upstream.send({ path: "/x", headers: [] })).status).to.equal(401);
  });

  it("needs no file with a server, and an existing context if one is named", async () => {
    const env = { HOME: folder.path };
    const overrides = { cluster: { server: url, "certificate-authority": ca() }, user: { token: "alice-token" } };
    await using client = await Client.fromKubeconfig({ env, overrides, retries: false });
    expect((await client.upstream.send({ path: "/x", headers: [] })).status).to.equal(200);
    const { message } = await rejected(loadKubeconfig({ env, overrides, context: "other" }));
    expect(message).to.equal('context "other" does not exist: there are none');
  });
});

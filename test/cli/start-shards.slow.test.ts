// `virtual-workspaces start --shards`: shards in one process, as kubectl sees them, over restarts of every kind.
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { Start } from "./support/start.ts";
import { MIRROR } from "./support/views-of-workspaces.ts";

const workspace = (name: string, shard: string): string => `
apiVersion: tenancy.kcp.io/v1alpha1
kind: Workspace
metadata: { name: ${name} }
spec:
  type: { name: universal, path: root }
  location: { selector: { matchLabels: { name: ${shard} } } }
`;
const FILES = {
  "far.yaml": workspace("far", "shard-1"),
  "near.yaml": workspace("near", "root"),
  "amber.yaml": `
apiVersion: core.kcp.io/v1alpha1
kind: Shard
metadata:
  name: amber
  annotations: { virtual-workspaces.io/in-process: "true" }
`,
  "jewel.yaml": workspace("jewel", "amber"),
};
const READY = "--for=jsonpath={.status.phase}=Ready";

describe("virtual-workspaces start --shards", function () {
  this.timeout(180_000);
  before(needsKubectl);

  it("has shards whose workspaces kubectl finds and uses, also after a kill", async () => {
    using files = tree(FILES);
    await using first = await Start.ready({ flags: ["--shards=2"] });
    expect(first.stderr.match(/^.* (warn|error) .*$/gm)).to.equal(null);
    expect(await first.kubectl("get", "shards", "-o", "name")).to.equal(
      "0 shard.core.kcp.io/root\nshard.core.kcp.io/shard-1",
    );
    for (const name of ["far", "near"]) {
      expect(await first.kubectl("create", "-f", `${files.path}/${name}.yaml`)).to.match(/^0 /);
      expect(await first.kubectl("wait", READY, `workspace/${name}`)).to.match(/^0 /);
    }
    const inside = (server: Start, name: string, ...args: string[]) =>
      server.kubectl("--server", `${server.url}/clusters/root:${name}`, ...args);
    expect(await inside(first, "far", "create", "configmap", "a", "--from-literal=x=y")).to.equal(
      "0 configmap/a created",
    );
    expect(await inside(first, "far", "create", "-f", `${files.path}/near.yaml`)).to.match(/^0 /);
    expect(await inside(first, "far", "wait", READY, "workspace/near")).to.match(/^0 /);
    const shardUrl = (await first.kubectl("get", "shard", "shard-1", "-o", "jsonpath={.spec.baseURL}")).slice(2);
    expect(shardUrl)
      .to.match(/^https:\/\/127\.0\.0\.1:\d+$/)
      .and.not.equal(first.url);
    const own = ["--context=shard-base", "--server", shardUrl];
    expect(await first.kubectl(...own, "get", "--raw", "/readyz?verbose")).to.match(/^0 [\s\S]*\[\+\]store ok/);
    expect(await first.kubectl(...own, "get", "--raw", "/clusters/*/api/v1/configmaps")).to.match(/^0 .*"name":"a"/);
    expect(await first.kubectl(...own, "get", "--raw", "/clusters/root:near/api/v1/configmaps")).to.match(
      /^1 .*Not found on this shard/,
    );
    expect(first.has("data-shard-1")).to.equal(true);
    expect(await first.end("SIGKILL")).to.equal(null);

    // Also without the flag: existing shards stay.
    await using second = await Start.ready({ in: first.folder.path });
    expect(await inside(second, "far", "get", "configmap", "a", "-o", "jsonpath={.data.x}")).to.equal("0 y");
    expect(await inside(second, "far:near", "get", "configmaps", "-o", "name")).to.equal(
      "0 configmap/kube-root-ca.crt",
    );
    expect((await second.get("/readyz")).body).to.equal("ok");
    expect(await second.end("SIGTERM")).to.equal(0);
  });

  it("serves a file of views at each address, over the shard there", async () => {
    using files = tree(FILES);
    await using server = await Start.ready({ flags: ["--shards=2", "--view", MIRROR] });
    for (const name of ["far", "near"]) {
      expect(await server.kubectl("create", "-f", `${files.path}/${name}.yaml`)).to.match(/^0 /);
      expect(await server.kubectl("wait", READY, `workspace/${name}`)).to.match(/^0 /);
      const inside = ["--server", `${server.url}/clusters/root:${name}`];
      expect(await server.kubectl(...inside, "create", "configmap", "a", `--from-literal=at=${name}`)).to.match(/^0 /);
    }
    const said = ["get", "shard", "shard-1", "-o", "jsonpath={.spec.virtualWorkspaceURL}"];
    const shardUrl = (await server.kubectl(...said)).slice(2);
    const cluster = async (name: string): Promise<string> =>
      (await server.kubectl("get", "workspace", name, "-o", "jsonpath={.spec.cluster}")).slice(2);
    const read = async (url: string, name: string): Promise<string> => {
      const at = ["--server", `${url}/services/mirror/clusters/${await cluster(name)}`];
      return server.kubectl(
        "--context=shard-base",
        ...at,
        "get",
        "configmaps",
        "a",
        "-n",
        "default",
        "-o",
        "jsonpath={.data.at}",
      );
    };
    for (const name of ["far", "near"]) expect(await read(server.url, name)).to.equal(`0 ${name}`);
    expect(await read(shardUrl, "far")).to.equal("0 far");
    // kubectl would retry forever: another shard has it.
    const near = `/services/mirror/clusters/${await cluster("near")}/api/v1/namespaces/default/configmaps/a`;
    const refused = await server.get(near, { at: shardUrl, token: server.token("shard-admin") });
    expect(refused.code, refused.body).to.be.oneOf([429, 503]);
    for (const store of ["data-of-views", "data-shard-1", "data-shard-1-of-views"])
      expect(server.has(store), store).to.equal(true);
    const clash = FILES["amber.yaml"].replaceAll("amber", "shard-1-of-views");
    using more = tree({ "clash.yaml": clash });
    expect(await server.kubectl("create", "-f", `${more.path}/clash.yaml`)).to.match(/^0 /);
    expect(await server.kubectl("wait", "--for=condition=Ready=false", "shard/shard-1-of-views")).to.match(/^0 /);
    expect(await server.kubectl("get", "shard", "shard-1-of-views", "-o", "yaml")).to.match(/use\s+another\s+name/);
    expect(await server.end("SIGTERM")).to.equal(0);
  });

  it("starts a shard that is created while it runs, and stops it when it is deleted and empty", async () => {
    using files = tree(FILES);
    await using server = await Start.ready();
    expect(await server.kubectl("create", "-f", `${files.path}/amber.yaml`)).to.equal(
      "0 shard.core.kcp.io/amber created",
    );
    expect(await server.kubectl("wait", "--for=condition=Ready", "shard/amber")).to.match(/^0 .*condition met/);
    expect(await server.kubectl("create", "-f", `${files.path}/jewel.yaml`)).to.match(/^0 /);
    expect(await server.kubectl("wait", READY, "workspace/jewel")).to.match(/^0 /);
    expect(await server.kubectl("delete", "shard", "amber", "--wait=false")).to.match(/^0 /);
    expect(await server.kubectl("wait", "--for=condition=ShardEmpty=false", "shard/amber")).to.match(/^0 /);
    const said = ["get", "shard", "amber", "-o", "jsonpath={.status.conditions[?(@.type=='ShardEmpty')].message}"];
    expect(await server.kubectl(...said)).to.equal(
      "0 the shard still has logical clusters: 1 (root:jewel); delete their workspaces to remove the shard",
    );
    expect(await server.kubectl("delete", "workspace", "jewel")).to.match(/^0 /);
    expect(await server.kubectl("wait", "--for=delete", "shard/amber")).to.match(/^0 /);
    expect(await server.kubectl("get", "shards", "-o", "name")).to.equal("0 shard.core.kcp.io/root");
    expect(await server.end("SIGTERM")).to.equal(0);
    expect(server.stderr)
      .to.match(/shard is serving shard="amber"/)
      .and.to.match(/shard stopped shard="amber"/);
  });
});

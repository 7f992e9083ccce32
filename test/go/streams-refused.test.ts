// Terminals and ports that fail: the messages of kubectl, and its fallbacks.
import { rbac } from "@virtual-workspaces/framework/authz";
import { expect } from "chai";
import { building } from "./support/build.ts";
import { builtKubectl, type KubectlHome } from "./support/kubectl.ts";
import { type PassedOn, startPassedOn } from "./support/passed-on.ts";
import { PortForward, PROTOCOLS, type Protocol, piped, summed } from "./support/streams.ts";

const by = (protocol: Protocol, { home }: PassedOn): KubectlHome => ({ ...home, env: PROTOCOLS[protocol] });
const run = (home: KubectlHome, ...args: readonly string[]) => piped(builtKubectl(), home, { args });
const exec = (home: KubectlHome, pod = "running") => run(home, "exec", pod, "--", "say", "out", "err");
const RBAC = "rbac.authorization.k8s.io";

/** Alice may read everything, and has these verbs on the subresources of pods. */
function mayOpen(...verbs: readonly string[]) {
  const rules = [
    { nonResourceURLs: ["*"], verbs: ["get"] },
    { apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] },
    { apiGroups: [""], resources: ["pods/exec", "pods/attach", "pods/portforward"], verbs },
  ];
  const common = { apiVersion: `${RBAC}/v1`, metadata: { name: "reader" } };
  const roleRef = { apiGroup: RBAC, kind: "ClusterRole", name: "reader" };
  const subjects = [{ kind: "User", apiGroup: RBAC, name: "alice" }];
  const objects = [
    { ...common, kind: "ClusterRole", rules },
    { ...common, kind: "ClusterRoleBinding", roleRef, subjects },
  ];
  return { authorize: rbac({ objects } as never) };
}

const attempts = ({ target }: PassedOn): string[] =>
  target.upgrades.map(({ method, path, upgrade }) => `${method} ${path.split("/").at(-1)} ${upgrade}`);

describe("pods through a view that denies kubectl", function () {
  this.timeout(60_000);
  before(async function () {
    await building("clients").call(this);
    await building("target").call(this);
  });

  for (const protocol of ["WebSocket", "SPDY"] as const)
    describe(`over ${protocol}`, () => {
      it("a user with only get learns the missing permission, and the cluster gets no request", async () => {
        await using setting = await startPassedOn(mayOpen("get"));
        const home = by(protocol, setting);
        for (const [subresource, args] of [
          ["exec", ["exec", "running", "--", "say", "a", "b"]],
          ["attach", ["attach", "running"]],
          ["portforward", ["port-forward", "running", ":7"]],
        ] as const) {
          const { code, stderr } = await run(home, ...args);
          const missing = `User "alice" cannot create resource "pods/${subresource}" in API group "" in the namespace "default"`;
          expect([code, stderr.includes(missing)], stderr).to.deep.equal([1, true]);
        }
        expect(attempts(setting)).to.deep.equal([]);
      });

      it("errors of the cluster are forwarded: 400, 404, 500", async () => {
        await using setting = await startPassedOn();
        for (const [pod, why] of [
          ["unassigned", "pod unassigned does not have a host assigned"],
          ["gone", 'pods "gone" not found'],
          ["unreached", "Internal error occurred: .*dial tcp 127.0.0.1:9: connect: connection refused"],
        ] as const) {
          const { code, stderr } = await exec(by(protocol, setting), pod);
          expect(code, stderr).to.equal(1);
          expect(stderr).to.match(new RegExp(`^error: .*${why}`));
        }
      });

      it("an unreachable cluster is reported", async () => {
        await using setting = await startPassedOn({ upgradesTo: "http://127.0.0.1:9" });
        for (const args of [
          ["exec", "running", "--", "say", "a", "b"],
          ["port-forward", "running", ":7"],
        ]) {
          const { code, stderr } = await run(by(protocol, setting), ...args);
          expect([code, stderr.includes("the cluster cannot be reached; try again")], stderr).to.deep.equal([1, true]);
        }
      });
    });

  it("kubectl falls back from WebSocket to SPDY when the user may create but not get", async () => {
    await using setting = await startPassedOn(mayOpen("create"));
    const { code, stdout, stderr } = await exec(by("WebSocket", setting));
    expect([code, String(stdout)], stderr).to.deep.equal([0, "out\n"]);
    await using forward = await PortForward.start(builtKubectl(), by("WebSocket", setting), ["running", 8]);
    expect(String(await forward.exchange(Buffer.from("x")))).to.equal(summed(Buffer.from("x")));
    expect(attempts(setting)).to.deep.equal(["POST exec SPDY/3.1", "POST portforward SPDY/3.1"]);
  });

  it("kubectl falls back to SPDY when the cluster is too old for WebSockets", async () => {
    await using setting = await startPassedOn({ older: true });
    const { code, stdout, stderr } = await exec(by("WebSocket", setting));
    expect([code, String(stdout)], stderr).to.deep.equal([0, "out\n"]);
    await using forward = await PortForward.start(builtKubectl(), by("WebSocket", setting), ["running", 8]);
    expect(String(await forward.exchange(Buffer.from("x")))).to.equal(summed(Buffer.from("x")));
    expect(attempts(setting)).to.deep.equal([
      "GET exec websocket",
      "POST exec SPDY/3.1",
      "GET portforward websocket",
      "POST portforward SPDY/3.1",
    ]);
  });
});

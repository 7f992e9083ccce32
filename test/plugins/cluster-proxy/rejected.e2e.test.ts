// The log of a real agent: an answer of its hub, and a hub that cannot be dialed.
import { expect } from "chai";
import { AgentProgram } from "../../go/support/agent.ts";
import { kubeconfigOf, startTarget, type Target } from "../mounts/support/mounted.ts";
import { apiOf, bootstrapOf, TestHub } from "./support/hub.ts";

describe("log of an agent", function () {
  this.timeout(60_000);
  let hub: TestHub;
  let target: Target;
  before(async () => {
    hub = await TestHub.start();
    target = await startTarget();
  });
  after(async () => {
    await hub?.[Symbol.asyncDispose]();
    await target?.[Symbol.asyncDispose]();
  });

  const starting = (url: string, token: string): AgentProgram =>
    new AgentProgram({ bootstrap: bootstrapOf({ url }, token), cluster: kubeconfigOf(target, { token: "t" }) });

  it("has the hub's answer and a remedy when the hub rejects the agent", async () => {
    await hub.make("used");
    const token = await hub.token("used");
    await using first = await hub.agent("used", { api: apiOf(target), token });
    await first.seen("connected");
    await using agent = starting(hub.agentsAt("used").url, token);
    await agent.said(
      /warn +the hub rejected the request code=403 error=".*has already been used.*" remedy="enroll the agent with a new token /,
    );
    expect(agent.stderr).not.to.match(/cannot dial/);
  });

  it("has another remedy for a server without the ClusterProxy", async () => {
    await using agent = starting(hub.agentsAt("none").url, "a.b.c");
    await agent.said(/warn +the hub rejected the request code=401 .*check that the server in --hub-kubeconfig/);
    await using other = starting(`${hub.server.url}/services/none/root/shop`, await hub.token("used"));
    await other.said(/warn +the hub rejected the request code=40[134] .*the server in --hub-kubeconfig/);
  });

  it("says that the hub cannot be dialed when nothing answers", async () => {
    await using agent = starting("http://127.0.0.1:1/services/clusterproxy-agents/root/shop", "t");
    await agent.said(/warn +cannot dial the hub error=/);
  });
});

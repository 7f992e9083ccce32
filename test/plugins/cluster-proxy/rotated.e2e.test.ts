// The token in the kubeconfig of a real agent is replaced while the agent runs.
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { untilAnswer } from "../../_support/until.ts";
import { AgentProgram } from "../../go/support/agent.ts";
import { kubeconfigOf, startTarget, type Target } from "../mounts/support/mounted.ts";
import { bootstrapOf, isReady, TestHub } from "./support/hub.ts";

describe("agent whose kubeconfig changes", function () {
  this.timeout(60_000);
  let hub: TestHub;
  let target: Target;
  let agent: AgentProgram;
  /** Tokens that the remote API server accepts. */
  const valid = new Set(["first"]);

  before(async () => {
    hub = await TestHub.start();
    target = await startTarget((req, res) => {
      const token = req.headers.authorization?.slice("Bearer ".length) ?? "";
      res.writeHead(valid.has(token) ? 200 : 401).end(token);
    });
    await hub.make("shop");
    agent = new AgentProgram({
      bootstrap: bootstrapOf({ url: hub.agentsAt("shop").url }, await hub.token("shop")),
      cluster: kubeconfigOf(target, { token: "first" }),
    });
    await hub.until("shop", isReady);
  });
  after(async () => {
    await agent?.[Symbol.asyncDispose]();
    await hub?.[Symbol.asyncDispose]();
    await target?.[Symbol.asyncDispose]();
  });

  const asked = () => hub.at("shop").get("/api/v1/pods", { user: "alice" });
  /** Replaces the file as tools do. */
  function write(text: string): void {
    const file = (name: string): string => join(agent.folder.path, name);
    writeFileSync(file("next"), text);
    renameSync(file("next"), file("cluster.kubeconfig"));
  }

  it("uses the new token although the previous one is still valid, and logs it", async () => {
    expect((await asked()).text).to.equal("first");
    valid.add("second");
    write(kubeconfigOf(target, { token: "second" }));
    await untilAnswer(asked, ({ text }) => text === "second");
    await agent.said(/ kubeconfig has changed, its credentials are in use /);
  });

  it("is rejected with the previous token once it is invalid, and works again after the file has a new one", async () => {
    valid.clear();
    const { status, body } = await asked();
    expect([status, body.message]).to.deep.equal([
      503,
      "the API server of the remote cluster rejected this server's credentials: renew those that this server sends to it",
    ]);
    await agent.said(/warn .*rejected this server's credentials/);
    valid.add("third");
    write(kubeconfigOf(target, { token: "third" }));
    await untilAnswer(asked, ({ text }) => text === "third");
    await agent.said(/ kubeconfig has changed, its credentials are in use /, 2);
  });

  it("keeps the token while the file cannot be read, and logs the reason once", async () => {
    write("users: [");
    const unreadable = / cannot read the changed kubeconfig, previous credentials stay in use .*cluster\.kubeconfig/;
    await untilAnswer(asked, ({ text }) => text === "third" && unreadable.test(agent.stderr));
    write(kubeconfigOf(target, { token: "third" }, { server: "https://127.0.0.1:1" }));
    await untilAnswer(asked, () => / server of the kubeconfig has changed: restart to use it /.test(agent.stderr));
    expect((await asked()).text).to.equal("third");
    expect(agent.stderr.match(/cannot read the changed kubeconfig/g)).to.have.lengthOf(1);
    expect(agent.stderr).not.to.match(/first|second|third/);
  });
});

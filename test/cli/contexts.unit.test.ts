// Contexts of the kubeconfig: all views, a guest, each view, with distinct names.
import { expect } from "chai";
import { parse } from "yaml";
import { contextsOf, kubeconfig } from "../../packages/cli/src/dev/dev-kubeconfig.ts";
import type { ViewSummary } from "../../packages/cli/src/dev/dev-messages.ts";

const URL_ = "https://127.0.0.1:6444";

function summary(name: string, path = `/services/${name}/clusters/root`): ViewSummary {
  return { name, path, resources: [], moves: false, denied: false, ready: true };
}

describe("the contexts of dev", () => {
  const told = (views: readonly ViewSummary[], all?: ViewSummary): string[] =>
    contextsOf({ views, all }, URL_).map(({ name, server, user }) => `${name} ${user} ${server.slice(URL_.length)}`);

  it("are all views, the same as a guest, and each view", () => {
    expect(told([summary("a"), summary("b")], summary("dev"))).to.deep.equal([
      "dev admin /services/dev/clusters/root",
      "guest guest /services/dev/clusters/root",
      "a admin /services/a/clusters/root",
      "b admin /services/b/clusters/root",
    ]);
  });

  it("begin with a view that has its own path when there is no view over all", () => {
    expect(told([summary("p", "/services/p/owners/:owner"), summary("r", "/services/r")])).to.deep.equal([
      "r admin /services/r",
      "guest guest /services/r",
    ]);
    expect(told([summary("p", "/services/p/owners/:owner")])).to.deep.equal([]);
  });

  it("leave the name guest to a view that has it", () => {
    const names = contextsOf({ views: [summary("guest")], all: summary("dev") }, URL_).map(({ name }) => name);
    expect(names).to.deep.equal(["dev", "dev-guest", "guest"]);
  });
});

describe("a kubeconfig", () => {
  it("is YAML, with everything in it", () => {
    const user = { name: "admin", groups: [], cert: "CERT", key: "KEY" };
    const text = kubeconfig({
      credentials: { ca: "CA", users: [user] },
      contexts: [{ name: "dev", server: `${URL_}/services/dev`, user: "admin" }],
      current: "dev",
    });
    const base64 = (value: string): string => Buffer.from(value).toString("base64");
    expect(parse(text)).to.deep.equal({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "dev",
      clusters: [
        { name: "dev", cluster: { server: `${URL_}/services/dev`, "certificate-authority-data": base64("CA") } },
      ],
      contexts: [{ name: "dev", context: { cluster: "dev", user: "admin" } }],
      users: [{ name: "admin", user: { "client-certificate-data": base64("CERT"), "client-key-data": base64("KEY") } }],
    });
  });
});

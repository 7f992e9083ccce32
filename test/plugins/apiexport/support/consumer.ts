// A workspace whose bound schemas the tests read through the view.
import { expect } from "chai";
import type { Answer, CallOptions, Calls } from "../../../_support/plain.ts";
import { untilAnswer } from "../../../_support/until.ts";
import { APIS, bindingOf } from "../../../workspace-server/bindings/support/shard.ts";
import { bind, makeWorkspace } from "../../../workspace-server/support/logical-clusters.ts";
import type { Workspaces } from "../../../workspace-server/support/workspaces.ts";

const root = { user: "root" };
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
export const SCHEMAS = "/apis/apis.kcp.io/v1alpha1/apiresourceschemas";

/** Workspace that binds exports. */
export class Consumer {
  readonly server: Workspaces;
  readonly cluster: string;

  constructor(server: Workspaces, cluster: string) {
    this.server = server;
    this.cluster = cluster;
  }

  /** Creates the workspace `root:<name>`, in which `alice` may get bindings. */
  static async make(server: Workspaces, name: string): Promise<Consumer> {
    const made = new Consumer(server, await makeWorkspace(server, name));
    await made.let("alice", { verbs: ["get"] });
    return made;
  }

  /** Grants a user access and a rule for the bindings here. @param kind further fields of the subject */
  async let(user: string, rule: object, kind: object = { kind: "User" }): Promise<void> {
    const name = `bindings-of-${user}`;
    const rules = [{ apiGroups: ["apis.kcp.io"], resources: ["apibindings"], ...rule }];
    const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name }, rules };
    const made = await this.server.send(`POST /clusters/${this.cluster}${RBAC}/clusterroles`, role, root);
    expect(made.status, made.text).to.equal(201);
    const subject = { apiGroup: "rbac.authorization.k8s.io", name: user, ...kind };
    await bind(this.server, this.cluster, { name, role: name, subject });
    await bind(this.server, this.cluster, { name: `${name}-access`, role: "system:kcp:workspace:access", subject });
  }

  /** Revokes these grants. */
  async dismiss(user: string): Promise<void> {
    const path = `/clusters/${this.cluster}${RBAC}/clusterrolebindings/bindings-of-${user}` as const;
    expect((await this.server.send(`DELETE ${path}`, undefined, root)).status).to.equal(200);
  }

  /** Binds an export, `<logical cluster>:<name>`, and waits for the phase. */
  async bind(name: string, to: string, phase = "Bound"): Promise<void> {
    const path = `/clusters/${this.cluster}${APIS}/apibindings` as const;
    const made = await this.server.send(`POST ${path}`, bindingOf(name, to), root);
    expect(made.status, made.text).to.equal(201);
    await untilAnswer(
      () => this.server.get(`${path}/${name}`, root),
      ({ body }) => body.status?.phase === phase,
    );
  }

  async unbind(name: string): Promise<void> {
    const path = `/clusters/${this.cluster}${APIS}/apibindings/${name}` as const;
    expect((await this.server.send(`DELETE ${path}`, undefined, root)).status).to.equal(200);
  }

  url(path: string, suffix = ""): `/${string}` {
    return `/services/apiresourceschema/${this.cluster}${suffix}${path}`;
  }

  /** Returns a client of the view, with the default user `alice`. @param suffix appended to the URL, as clients do */
  view(suffix = ""): Calls {
    return {
      get: (path, options) => this.server.get(this.url(path, suffix), options),
      send: (call, body, options) => {
        const [method = "", path = ""] = call.split(" ", 2);
        return this.server.send(`${method} ${this.url(path, suffix)}`, body, options);
      },
      watch: (path, options) => this.server.watch(this.url(path, suffix), options),
    };
  }

  get(path: string, options?: CallOptions): Promise<Answer> {
    return this.view().get(path, options);
  }
}

/** Returns the names in a list in their order, without those of kcp's own exports, which every workspace binds. */
export function schemasIn({ status, text, body }: Answer): string[] {
  expect(status, text).to.equal(200);
  return body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name).filter(isOfTests);
}

export const isOfTests = (name: string): boolean => name.endsWith(".example.dev");

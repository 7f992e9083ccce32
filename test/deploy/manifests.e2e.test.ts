// Why: manifests that an API server rejects, or whose flags a server rejects, are found out by users. What Kustomize builds is checked
// against Kubernetes' API, and the arguments by the commands themselves.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parse, parseAllDocuments } from "yaml";
import { AGENT } from "../../packages/cli/src/agent/flags.ts";
import { readFlags } from "../../packages/cli/src/flags/read.ts";
import type { CommandLine } from "../../packages/cli/src/flags/table.ts";
import { FRONT_PROXY } from "../../packages/cli/src/front-proxy/flags.ts";
import { SERVE } from "../../packages/cli/src/serve/flags.ts";
import { startLine } from "../../packages/cli/src/start/flags.ts";
import { root } from "../../tools/install.mjs";
import { kubectls, needsKubectl } from "../e2e/support/kubectls.ts";
import { problemsOf } from "./support/schemas.ts";

const LINES: Readonly<Record<string, CommandLine>> = {
  start: startLine(),
  serve: SERVE,
  "front-proxy": FRONT_PROXY,
  agent: AGENT,
};

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly image: string;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly readinessProbe?: { readonly httpGet: { readonly path: string } };
  readonly volumeMounts: readonly { readonly name: string }[];
}

interface Built {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: object };
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly securityContext: Readonly<Record<string, unknown>>;
        readonly volumes?: readonly { readonly name: string }[];
        readonly containers: readonly [Container];
      };
    };
  };
}

function built(folder: string): readonly Built[] {
  const text = execFileSync(kubectls()[0] ?? "kubectl", ["kustomize", join(root, "deploy", folder)], {
    encoding: "utf8",
  });
  return parseAllDocuments(text).map((document) => document.toJS() as Built);
}

/** Checks a command line, with the command as its first word. */
function checkArguments([command = "", ...args]: readonly string[]): void {
  const line = LINES[command];
  if (line === undefined) throw new Error(`no command ${command}`);
  expect(readFlags(args, line).warnings, command).to.deep.equal([]);
}

describe("the manifests in deploy", function () {
  this.timeout(60_000);
  before(needsKubectl);

  for (const folder of ["kubernetes", "kubernetes/agent"]) {
    it(`of ${folder} are valid in Kubernetes' API, in one namespace`, () => {
      const objects = built(folder);
      expect(objects.length).to.be.at.least(6);
      for (const object of objects) expect(problemsOf(object, `V1${object.kind}`)).to.deep.equal([]);
      const namespaces = objects.map(({ kind, metadata }) =>
        kind === "Namespace" ? metadata.name : metadata.namespace,
      );
      expect(new Set(namespaces.filter((one) => one !== undefined)).size).to.equal(1);
    });

    it(`of ${folder} run our programs with flags that they have, read-only and without rights`, () => {
      const workloads = built(folder).filter(({ kind }) => /^(Deployment|StatefulSet)$/.test(kind));
      for (const { metadata, spec } of workloads) {
        const { securityContext, containers, volumes = [] } = spec.template.spec;
        const [container] = containers;
        expect(securityContext, metadata.name).to.include({ runAsNonRoot: true, runAsUser: 65_532 });
        expect(container.securityContext).to.deep.equal({
          ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
        });
        expect(spec.template.metadata.labels).to.include(spec.selector.matchLabels);
        const declared = [
          ...volumes.map(({ name }) => name),
          ...(spec.volumeClaimTemplates ?? []).map((one) => one.metadata.name),
        ];
        expect(container.volumeMounts.map(({ name }) => name)).to.have.members(declared);
        if (container.image !== "virtual-workspaces") continue;
        checkArguments(container.args);
        if (container.args[0] !== "agent") expect(container.readinessProbe?.httpGet.path).to.equal("/readyz");
      }
      expect(workloads.length).to.be.at.least(1);
    });
  }

  it("let the workspace server of Kubernetes alone reach etcd", () => {
    const objects = built("kubernetes") as unknown as readonly { readonly kind: string; readonly spec: unknown }[];
    const component = (name: string) => ({
      matchLabels: { "app.kubernetes.io/name": "virtual-workspaces", "app.kubernetes.io/component": name },
    });
    const policy = objects.find(({ kind }) => kind === "NetworkPolicy");
    expect(policy?.spec).to.deep.equal({
      podSelector: component("etcd"),
      policyTypes: ["Ingress"],
      ingress: [{ from: [{ podSelector: component("start") }], ports: [{ port: "client" }] }],
    });
    const labels = built("kubernetes").flatMap(({ kind, spec }) =>
      /^(Deployment|StatefulSet)$/.test(kind) ? [spec.template.metadata.labels["app.kubernetes.io/component"]] : [],
    );
    expect(labels).to.have.members(["etcd", "start", "serve", "front-proxy"]);
  });

  it("would not pass with a misspelt field, another type, or a missing one", () => {
    const [deployment] = built("kubernetes/agent").filter(({ kind }) => kind === "Deployment");
    const { spec } = deployment as Built;
    const { containers: _, ...podless } = spec.template.spec;
    for (const [changed, problem] of [
      [{ ...spec, replica: 1 }, "V1Deployment.spec.replica is no field"],
      [{ ...spec, replicas: "1" }, "V1Deployment.spec.replicas is not a number"],
      [{ ...spec, template: { spec: podless } }, "V1Deployment.spec.template.spec.containers is missing"],
    ] as const)
      expect(problemsOf({ ...deployment, spec: changed }, "V1Deployment")).to.deep.equal([problem]);
  });

  it("of compose run the server read-only, with flags that it has, and probe it without a shell", () => {
    const { services } = parse(readFileSync(join(root, "deploy/compose/compose.yaml"), "utf8"));
    checkArguments(services.server.command);
    expect(services.server).to.include({ read_only: true });
    expect(services.server.cap_drop).to.deep.equal(["ALL"]);
    expect(services.server.healthcheck.test).to.deep.equal(["CMD", "/readyz", "6443"]);
    expect(services.server.volumes).to.deep.equal(["server:/data"]);
  });
});

// Flags that `virtual-workspaces start` reads, and those that it rejects with one line and a remedy.
import { join } from "node:path";
import { defineFeature, type WorkspaceServerFeature } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { UsageError } from "../../packages/cli/src/process/failure.ts";
import { startFeatures } from "../../packages/cli/src/start/features.ts";
import { startOptions } from "../../packages/cli/src/start/start-options.ts";
import { tree } from "../_setup/tree.ts";

const FILES = {
  "tokens.csv": "alice\n",
  "none.pem": "no certificate",
  "policy.yaml": "kind: Nothing",
  "config.yaml": "kind: Nothing",
};

const mistakes: readonly (readonly [readonly string[], RegExp])[] = [
  [["now"], /unexpected argument "now": use flags/],
  [["--run-virtual-workspaces", "false"], /unexpected argument "false"/],
  [["--secure-port"], /--secure-port needs a value: --secure-port <value>/],
  [["--token-auth-file", "--v", "4"], /--token-auth-file needs a value/],
  [["--secure-port", "http"], /invalid value "http" for --secure-port: use a number from 0 to 65535/],
  [
    ["--secure-port=0"],
    /invalid value "0" for --secure-port: use a port from 1 to 65535, or add --experimental-bind-free-port/,
  ],
  [["--experimental-bind-free-port"], /--secure-port=0 required if --experimental-bind-free-port is set/],
  [["--bind-address=here"], /invalid value "here" for --bind-address: use an IP address/],
  [["--anonymous-auth=maybe"], /invalid value "maybe" for --anonymous-auth: use true or false/],
  [["--shards=0"], /invalid value "0" for --shards: use a number from 1 on/],
  [["--shards=two"], /invalid value "two" for --shards: use a number from 0 to 64/],
  [
    ["--shard-base-url=http://x"],
    /invalid value for --shard-base-url: use a URL such as https:\/\/kcp\.example\.com:6443/,
  ],
  [
    ["--shard-external-url=https://me:secret@x"],
    /^invalid value for --shard-external-url: use a URL such as \S+, without user/,
  ],
  [["--tls-cert-file=none.pem"], /--tls-cert-file and --tls-private-key-file must be set together/],
  [["--tls-cert-file=gone", "--tls-private-key-file=none.pem"], /cannot read --tls-cert-file \S+gone: ENOENT/],
  [["--client-ca-file=none.pem"], /--client-ca-file .*none\.pem" holds no PEM certificate/],
  [["--client-ca-file=gone"], /cannot read --client-ca-file .*gone: ENOENT/],
  [["--token-auth-file=tokens.csv"], /--token-auth-file: .*tokens\.csv, line 1: malformed entry: write token,user,uid/],
  [["--requestheader-client-ca-file=none.pem"], /--requestheader-client-ca-file .*holds no PEM certificate/],
  [
    ["--requestheader-allowed-names=a"],
    /--requestheader-allowed-names has no effect without --requestheader-client-ca-file/,
  ],
  [["--oidc-issuer-url=https://x"], /--oidc-issuer-url needs --oidc-client-id/],
  [["--oidc-client-id=x"], /--oidc-client-id has no effect without --oidc-issuer-url/],
  [["--oidc-issuer-url=http://x", "--oidc-client-id=a"], /--oidc-issuer-url .*issuer\.url.*https/],
  [
    ["--oidc-issuer-url=https://x", "--oidc-client-id=a", "--oidc-required-claim=b"],
    /invalid value "b" for --oidc-required-claim: use claim=value/,
  ],
  [["--authentication-config=config.yaml"], /--authentication-config .*config\.yaml: authentication configuration: /],
  [["--authentication-config=config.yaml", "--oidc-client-id=a"], /both configure issuers: use only one/],
  [
    ["--authorization-order=RBAC,ABAC"],
    /invalid authorizer: "ABAC": use AlwaysAllowGroups, AlwaysAllowPaths, RBAC, Web/,
  ],
  [["--authorization-order="], /--authorization-order is empty: name at least one authorizer/],
  [
    ["--authorization-mode=Node"],
    /--authorization-mode is not implemented: use --authorization-order, or --authorization-c/,
  ],
  [["--authorization-webhook-version=v1"], /--authorization-webhook-version needs --authorization-webhook-config-file/],
  [["--authorization-webhook-config-file=gone"], /cannot read --authorization-webhook-config-file .*gone: ENOENT/],
  [
    ["--authorization-webhook-config-file=none.pem", "--authorization-webhook-version=v2"],
    /invalid value "v2" for --authorization-webhook-version: use v1 or v1beta1/,
  ],
  [
    ["--authorization-webhook-config-file=none.pem", "--authorization-order=RBAC"],
    /--authorization-webhook-config-file has no effect: add Webhook to --authorization-order/,
  ],
  [
    ["--authorization-webhook-config-file=none.pem", "--authorization-webhook-cache-authorized-ttl=soon"],
    /invalid value "soon" for --authorization-webhook-cache-authorized-ttl: use a duration/,
  ],
  [
    ["--authorization-webhook-config-file=none.pem", "--authorization-webhook-cache-unauthorized-ttl=25h"],
    /invalid value for --authorization-webhook-cache-unauthorized-ttl: use a duration of at most 24h/,
  ],
  [["--authorization-config=config.yaml"], /--authorization-config .*config\.yaml: authorization configuration: /],
  [["--authorization-config=config.yaml", "--authorization-order=RBAC"], /both configure authorizers: use only one/],
  [["--batteries-included=solar"], /unknown battery: solar\. The batteries are admin, workspace-types/],
  [["--batteries-included=+user,admin"], /use \+ or - before all names, or before none/],
  [["--batteries-included=user,workspace-types"], /battery user enabled which requires admin as well/],
  [["--batteries-included=+metrics-viewer"], /metrics-viewer is not implemented/],
  [["--batteries-included=-workspace-types"], /add workspace-types/],
  [
    ["--mount-proxy-client-cert-file=none.pem"],
    /--mount-proxy-client-cert-file and --mount-proxy-client-key-file must be set together/,
  ],
  [["--mount-ca-file=gone"], /cannot read --mount-ca-file .*gone: ENOENT/],
  [["--mount-caller-hosts=a.example"], /--mount-caller-hosts needs Mounts: add \S+\+mounts/],
  [
    ["--feature-gates=WorkspaceMounts=false", "--mount-allow=a.example"],
    /--mount-allow does not work with --feature-gates=WorkspaceMounts=false/,
  ],
  [
    ["--feature-gates=WorkspaceAuthentication=false", "--workspace-issuer-allow=a.example"],
    /--workspace-issuer-allow needs --feature-gates=WorkspaceAuthentication=true/,
  ],
  [["--feature-gates=Everything"], /invalid value "Everything" for --feature-gates: use Name=true or Name=false/],
  [["--logging-format=xml"], /invalid value "xml" for --logging-format: use text or json/],
  [["--v=loud"], /invalid value "loud" for --v: use a number from 0 to 100/],
  [
    ["--shutdown-delay-duration=soon"],
    /invalid value "soon" for --shutdown-delay-duration: use a duration such as 30s/,
  ],
  [["--audit-log-format=legacy"], /invalid value "legacy" for --audit-log-format: use json/],
  [
    ["--audit-log-mode=never", "--audit-log-path=-"],
    /invalid value "never" for --audit-log-mode: use blocking or batch/,
  ],
  [["--audit-log-path=gone/audit.log"], /--audit-log-path .*: folder .*gone does not exist: create it/],
  [["--audit-log-path=-", "--audit-policy-file=gone"], /cannot read --audit-policy-file .*gone: ENOENT/],
  [["--audit-log-path=-", "--audit-policy-file=policy.yaml"], /--audit-policy-file: invalid audit policy: .*kind/],
  [["--service-account-key-file=gone"], /cannot read --service-account-key-file .*gone: ENOENT/],
  [
    ["--service-account-signing-key-file=a", "--service-account-private-key-file=b"],
    /name two keys, but only one signs tokens/,
  ],
  [["--etcd-prefix=/x"], /--etcd-prefix needs --etcd-servers: set both/],
  [["--etcd-servers=embedded,http://a:1"], /invalid value for --etcd-servers: use "embedded", or the members/],
  [["--etcd-servers=http://a:1", "--embedded-etcd-directory=d"], /both select a store: use only one/],
  [["--etcd-servers=localhost:2379"], /localhost:2379" for --etcd-servers: use URLs without path/],
  [
    [
      ...["--run-virtual-workspaces=false", "--shard-virtual-workspace-url=https://x"],
      "--shard-client-cert-file=package.json",
    ],
    /must be set together, and --shard-virtual-workspace-ca-file, --shard-client-key-file is missing/,
  ],
  [
    ["--shard-virtual-workspace-url=https://{name}.x"],
    /invalid value for --shard-virtual-workspace-url: unknown placeholder \{name\}: use \{shard\} for the name of the shard/,
  ],
  [
    ["--shard-virtual-workspace-url=https://x:{shard}"],
    /invalid value for --shard-virtual-workspace-url: use a URL such as https:/,
  ],
  [["--shard-virtual-workspace-url=https://{shard}.x/{shard}"], /without user, path and query/],
];

/** Flags that protect something, each with a value that would do so. */
const PROTECTING: readonly string[] = [
  "--authentication-token-webhook-config-file=x",
  "--authorization-mode=Webhook",
  "--authorization-kubeconfig=x",
  "--authorization-always-allow-groups=nobody",
  "--encryption-provider-config=x",
  "--audit-webhook-config-file=x",
  "--enable-admission-plugins=x",
  "--tls-min-version=VersionTLS13",
  "--tls-cipher-suites=x",
  "--tls-sni-cert-key=a,b",
  "--egress-selector-config-file=x",
  "--oidc-signing-algs=RS256",
  "--service-account-lookup=false",
  "--service-account-max-token-expiration=1h",
  "--shard-name=other",
  "--cache-kubeconfig=x",
  "--run-controllers=false",
];

/** Puts the files of flags into a folder. */
function inFolder(flags: readonly string[], folder: string): string[] {
  return flags.map((flag) => flag.replace(/=((none|gone|tokens|policy|config)\b.*)$/, `=${join(folder, "$1")}`));
}

describe("the flags of virtual-workspaces start", () => {
  for (const [flags, why] of mistakes)
    it(`rejects ${flags.join(" ")} with a remedy`, () => {
      using folder = tree(FILES);
      expect(() => startOptions(inFolder(flags, folder.path), {})).to.throw(UsageError, why);
    });

  for (const flag of PROTECTING)
    it(`rejects ${flag}, which would protect something`, () => {
      const name = flag.split("=")[0];
      expect(() => startOptions([flag], {})).to.throw(UsageError, `${name} is not implemented: `);
    });

  it("accepts every gate of kcp's, and uses its last value", () => {
    using folder = tree({});
    const gate = "EnableDeprecatedAPIExportVirtualWorkspacesUrls";
    const flags = [`--feature-gates=${gate}=true,Other=true`, `--feature-gates=Other=false,${gate}=false`];
    const { warnings, exportURLs } = startOptions(["--root-directory", folder.path, ...flags], {});
    expect([exportURLs, warnings]).to.deep.equal([false, []]);
  });

  it("shows all flags at /flagz in Go's form, without passwords, unless a gate turns the page off", () => {
    using folder = tree({});
    const feature = defineFeature({
      name: "mine",
      flags: { "mine-password": { type: "text", classified: true, help: "Password." } },
      read: () => undefined,
    }) as WorkspaceServerFeature;
    const features = startFeatures([{ feature }]);
    const shown = (...flags: string[]) =>
      startOptions(["--root-directory", folder.path, ...flags], {}, features).component;
    const {
      name,
      statusz,
      flags = {},
    } = shown(
      ...["--service-account-issuer=https://me:pa@ss@a.example/x@y", "--keep-kubeconfig", "--mine-password=secret"],
      ...["--shutdown-delay-duration=90s", "--api-audiences=x,y"],
    );
    expect([name, statusz]).to.deep.equal(["virtual-workspaces-start", true]);
    expect(flags).to.include({
      "service-account-issuer": "[https://CLASSIFIED@a.example/x@y]",
      "mine-password": "CLASSIFIED",
      "root-directory": folder.path,
      "keep-kubeconfig": "true",
      "anonymous-auth": "true",
      "shutdown-delay-duration": "1m30s",
      "api-audiences": "[x,y]",
      "oidc-required-claim": "[]",
      "token-auth-file": "",
      "secure-port": "6443",
    });
    expect(Object.keys(flags).length).to.be.above(60);
    expect(shown("--feature-gates=ComponentFlagz=false").flags).to.equal(undefined);
    const off = shown("--feature-gates=ComponentStatusz=false");
    expect([off.statusz, off.flags?.["feature-gates"]]).to.deep.equal([false, "[ComponentStatusz=false]"]);
  });

  it("reads the gate for views that store resources, which are on by default, and for cached resources, which are off", () => {
    using folder = tree({});
    const said = (...flags: string[]) => {
      const given = startOptions(["--root-directory", folder.path, ...flags], {});
      const { warnings, virtualStorage, cachedResources } = given;
      return [virtualStorage, cachedResources, warnings.map((text) => text.split(":")[0])];
    };
    expect(said()).to.deep.equal([true, false, []]);
    expect(said("--feature-gates=CacheAPIs=true")).to.deep.equal([true, true, []]);
    expect(said("--feature-gates=CacheAPIs=false")).to.deep.equal([false, false, []]);
    expect(said("--shard-client-cert-file=package.json")).to.deep.equal([
      true,
      false,
      ["--shard-client-cert-file has no effect without --shard-virtual-workspace-ca-file, --shard-client-key-file"],
    ]);
  });

  it("reads the gate for mounted workspaces, which is on by default", () => {
    using folder = tree({});
    const said = (...flags: string[]) => {
      const { warnings, features } = startOptions(["--root-directory", folder.path, ...flags], {});
      return [features.some(({ name }) => name === "workspace-mounts"), warnings];
    };
    expect(said()).to.deep.equal([true, []]);
    expect(said("--feature-gates=WorkspaceMounts=true")).to.deep.equal([true, []]);
    expect(said("--feature-gates=WorkspaceMounts=false")).to.deep.equal([false, []]);
  });

  it("reads the gate for the authentication of workspace types, which is on by default", () => {
    using folder = tree({});
    const said = (...flags: string[]) => {
      const { warnings, issuerHosts } = startOptions(["--root-directory", folder.path, ...flags], {});
      return [issuerHosts, warnings];
    };
    expect(said()).to.deep.equal([[], []]);
    expect(said("--feature-gates=WorkspaceAuthentication=true", "--workspace-issuer-allow=a.example")).to.deep.equal([
      ["a.example"],
      [],
    ]);
    expect(said("--feature-gates=WorkspaceAuthentication=false")).to.deep.equal([undefined, []]);
  });

  it("accepts the flags of kcp's own tests, and its defaults", () => {
    using folder = tree({});
    const harness = [
      ...["--embedded-etcd-client-port=1", "--embedded-etcd-peer-port", "2", "--embedded-etcd-wal-size-bytes=5000"],
      ...["--audit-log-path", join(folder.path, "a.log"), "--v=4", "--feature-gates=WorkspaceMounts=true,Other=false"],
      ...[
        "--authorization-mode=RBAC",
        "--shard-name=root",
        "--tls-min-version=VersionTLS12",
        "--service-account-lookup",
      ],
      ...[
        "--batteries-included=admin,workspace-types,user",
        "--run-virtual-workspaces=false",
        "--etcd-servers=embedded",
      ],
    ];
    const { warnings, users, exportURLs } = startOptions(["--root-directory", folder.path, ...harness], {});
    expect(exportURLs).to.equal(undefined);
    expect(users).to.deep.equal([{ name: "user", workspace: "root" }]);
    expect(warnings.map((text) => text.split(" ").slice(0, 3).join(" "))).to.deep.equal([
      ...["client-port", "peer-port", "wal-size-bytes"].map((name) => `--embedded-etcd-${name} is accepted`),
      "requests below /services",
      "audit policy file",
    ]);
  });
});

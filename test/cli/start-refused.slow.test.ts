// What `virtual-workspaces start` refuses, in one line that names the remedy: 2 for the command line, 1 for the world.
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { signingKey } from "../_support/issuer.ts";
import { cli } from "./support/dev.ts";
import { Start } from "./support/start.ts";
import { UsageError } from "../../packages/cli/src/process/failure.ts";
import { startOptions } from "../../packages/cli/src/start/options.ts";

const FILES = {
  "tokens.csv": "alice\n",
  "none.pem": "no certificate",
  "policy.yaml": "kind: Nothing",
  "config.yaml": "kind: Nothing",
};

const mistakes: readonly (readonly [readonly string[], RegExp])[] = [
  [["now"], /now is one word too many: flags name everything/],
  [["--run-virtual-workspaces", "false"], /false is one word too many/],
  [["--secure-port"], /--secure-port needs a value: --secure-port <value>/],
  [["--token-auth-file", "--v", "4"], /--token-auth-file needs a value/],
  [["--secure-port", "http"], /--secure-port http: give a number from 0 to 65535/],
  [["--secure-port=0"], /--secure-port 0: give a port from 1 to 65535, or --experimental-bind-free-port/],
  [["--experimental-bind-free-port"], /--secure-port=0 required if --experimental-bind-free-port is set/],
  [["--bind-address=here"], /--bind-address here: give an IP address/],
  [["--anonymous-auth=maybe"], /--anonymous-auth=maybe: give true or false/],
  [["--shards=0"], /--shards 0: give a number from 1 on/],
  [["--shards=two"], /--shards two: give a number from 0 to 64/],
  [["--shard-base-url=http://x"], /--shard-base-url: give a URL such as https:\/\/kcp\.example\.com:6443/],
  [["--shard-external-url=https://me:secret@x"], /^--shard-external-url: give a URL such as \S+, without user/],
  [["--tls-cert-file=none.pem"], /--tls-cert-file and --tls-private-key-file go together/],
  [["--tls-cert-file=gone", "--tls-private-key-file=none.pem"], /--tls-cert-file \S+gone cannot be read: ENOENT/],
  [["--client-ca-file=none.pem"], /--client-ca-file .*none\.pem holds no PEM certificate/],
  [["--client-ca-file=gone"], /--client-ca-file .*gone cannot be read: ENOENT/],
  [["--token-auth-file=tokens.csv"], /--token-auth-file: .*tokens\.csv, line 1: write token,user,uid/],
  [["--requestheader-client-ca-file=none.pem"], /--requestheader-client-ca-file .*holds no PEM certificate/],
  [
    ["--requestheader-allowed-names=a"],
    /--requestheader-allowed-names says nothing without --requestheader-client-ca-file/,
  ],
  [["--oidc-issuer-url=https://x"], /--oidc-issuer-url needs --oidc-client-id/],
  [["--oidc-client-id=x"], /--oidc-client-id says nothing without --oidc-issuer-url/],
  [["--oidc-issuer-url=http://x", "--oidc-client-id=a"], /--oidc-issuer-url .*issuer\.url.*https/],
  [
    ["--oidc-issuer-url=https://x", "--oidc-client-id=a", "--oidc-required-claim=b"],
    /--oidc-required-claim b: write claim=value/,
  ],
  [["--authentication-config=config.yaml"], /--authentication-config .*config\.yaml: authentication configuration: /],
  [["--authentication-config=config.yaml", "--oidc-client-id=a"], /both name issuers: name them in one place/],
  [["--batteries-included=solar"], /unknown battery: solar\. The batteries are admin, workspace-types/],
  [["--batteries-included=+user,admin"], /write \+ or - before all names, or before none/],
  [["--batteries-included=user,workspace-types"], /battery user enabled which requires admin as well/],
  [["--batteries-included=+metrics-viewer"], /metrics-viewer is not implemented/],
  [["--batteries-included=-workspace-types"], /name workspace-types too/],
  [
    ["--mount-proxy-client-cert-file=none.pem"],
    /--mount-proxy-client-cert-file and --mount-proxy-client-key-file go together/,
  ],
  [["--mount-ca-file=gone"], /--mount-ca-file .*gone cannot be read: ENOENT/],
  [["--mount-caller-hosts=a.example"], /--mount-caller-hosts is about Mounts: there are some with \S+\+mounts/],
  [
    ["--feature-gates=WorkspaceMounts=false", "--mount-allow=a.example"],
    /--mount-allow: workspaces may not be mounted/,
  ],
  [
    ["--feature-gates=WorkspaceAuthentication=false", "--workspace-issuer-allow=a.example"],
    /--workspace-issuer-allow: types do not say who may log in/,
  ],
  [["--feature-gates=Everything"], /--feature-gates Everything: write Name=true or Name=false/],
  [["--logging-format=xml"], /--logging-format xml: say text or json/],
  [["--v=loud"], /--v loud: give a number from 0 to 100/],
  [["--shutdown-delay-duration=soon"], /--shutdown-delay-duration soon: give a duration such as 30s/],
  [["--audit-log-format=legacy"], /--audit-log-format legacy: events are written as json/],
  [["--audit-log-mode=never", "--audit-log-path=-"], /--audit-log-mode never: say blocking or batch/],
  [["--audit-log-path=gone/audit.log"], /--audit-log-path .*: there is no folder .*gone: make it/],
  [["--audit-log-path=-", "--audit-policy-file=gone"], /--audit-policy-file .*gone cannot be read: ENOENT/],
  [["--audit-log-path=-", "--audit-policy-file=policy.yaml"], /--audit-policy-file: audit policy: .*kind/],
  [["--service-account-key-file=gone"], /--service-account-key-file .*gone cannot be read: ENOENT/],
  [
    ["--service-account-signing-key-file=a", "--service-account-private-key-file=b"],
    /name two keys: one signs all tokens/,
  ],
  [["--etcd-prefix=/x"], /--etcd-prefix is about etcd: name it with --etcd-servers/],
  [["--etcd-servers=embedded,http://a:1"], /--etcd-servers: say embedded, or name the members/],
  [["--etcd-servers=http://a:1", "--embedded-etcd-directory=d"], /name two places: objects are kept in one/],
  [["--etcd-servers=localhost:2379"], /localhost:2379: give URLs with commas between/],
  [
    [
      ...["--run-virtual-workspaces=false", "--shard-virtual-workspace-url=https://x"],
      "--shard-client-cert-file=package.json",
    ],
    /go together, and --shard-virtual-workspace-ca-file, --shard-client-key-file is missing/,
  ],
  [
    ["--shard-virtual-workspace-url=https://{name}.x"],
    /--shard-virtual-workspace-url: \{name\} stands for nothing: \{shard\} is the name of the shard/,
  ],
  [["--shard-virtual-workspace-url=https://x:{shard}"], /--shard-virtual-workspace-url: give a URL such as https:/],
  [["--shard-virtual-workspace-url=https://{shard}.x/{shard}"], /without user, path or query/],
];

/** What protects something. Each with a value that would. */
const PROTECTING: readonly string[] = [
  "--authentication-token-webhook-config-file=x",
  "--authorization-webhook-config-file=x",
  "--authorization-mode=Webhook",
  "--authorization-order=Webhook,RBAC",
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

/** The files that flags name, where they are. */
function inFolder(flags: readonly string[], folder: string): string[] {
  return flags.map((flag) => flag.replace(/=((none|gone|tokens|policy|config)\b.*)$/, `=${join(folder, "$1")}`));
}

describe("virtual-workspaces start refuses", function () {
  this.timeout(60_000);

  /** Runs it in a folder where file names of flags are found, and expects one line. */
  async function refusal(flags: readonly string[], folder: string): Promise<{ code: number | null; line: string }> {
    const rooted = inFolder(flags, folder);
    const { code, stdout, stderr } = await cli("start", "--root-directory", join(folder, "kcp"), ...rooted);
    expect(stderr).to.match(/^virtual-workspaces start: .*\n$/);
    expect(stdout).to.equal("");
    return { code, line: stderr };
  }

  it("a mistake in one line, with 2, before it makes anything", async () => {
    using folder = tree(FILES);
    const { code, line } = await refusal(["--token-auth-file=tokens.csv"], folder.path);
    expect(line).to.match(/tokens\.csv, line 1: .*; see virtual-workspaces start --help\n$/);
    expect(code).to.equal(2);
    expect(existsSync(join(folder.path, "kcp"))).to.equal(false);
  });

  for (const [flags, why] of mistakes)
    it(flags.join(" "), () => {
      using folder = tree(FILES);
      expect(() => startOptions(inFolder(flags, folder.path), {})).to.throw(UsageError, why);
    });

  for (const flag of PROTECTING)
    it(`${flag}, which would protect something`, () => {
      const name = flag.split("=")[0];
      expect(() => startOptions([flag], {})).to.throw(UsageError, `${name} is not implemented: `);
    });

  it("no gate of kcp's, of which the last word counts", () => {
    using folder = tree({});
    const gate = "EnableDeprecatedAPIExportVirtualWorkspacesUrls";
    const flags = [`--feature-gates=${gate}=true,Other=true`, `--feature-gates=Other=false,${gate}=false`];
    const { warnings, exportURLs } = startOptions(["--root-directory", folder.path, ...flags], {});
    expect([exportURLs, warnings]).to.deep.equal([false, []]);
  });

  it("the gate by which views keep resources, which is on unless it is turned off", () => {
    using folder = tree({});
    const said = (...flags: string[]) => {
      const { warnings, virtualStorage } = startOptions(["--root-directory", folder.path, ...flags], {});
      return [virtualStorage, warnings.map((text) => text.split(":")[0])];
    };
    expect(said()).to.deep.equal([true, []]);
    expect(said("--feature-gates=CacheAPIs=true")).to.deep.equal([true, ["feature gate CacheAPIs"]]);
    expect(said("--feature-gates=CacheAPIs=false")).to.deep.equal([false, []]);
    expect(said("--shard-client-cert-file=package.json")).to.deep.equal([
      true,
      ["--shard-client-cert-file has no effect without --shard-virtual-workspace-ca-file, --shard-client-key-file"],
    ]);
  });

  it("the gate by which workspaces may be mounted, which is on unless it is turned off", () => {
    using folder = tree({});
    const said = (...flags: string[]) => {
      const { warnings, mounts } = startOptions(["--root-directory", folder.path, ...flags], {});
      return [mounts !== undefined, warnings];
    };
    expect(said()).to.deep.equal([true, []]);
    expect(said("--feature-gates=WorkspaceMounts=true")).to.deep.equal([true, []]);
    expect(said("--feature-gates=WorkspaceMounts=false")).to.deep.equal([false, []]);
  });

  it("the gate by which types of workspaces say who may log in, which is on unless it is turned off", () => {
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

  it("nothing that kcp's own tests, or its defaults, say", () => {
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

  it("a port that is taken, and an address of another machine", async () => {
    using folder = tree({});
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const taken = await refusal(["--bind-address=127.0.0.1", `--secure-port=${port}`], folder.path);
    other.close();
    expect(taken.line).to.include(
      `127.0.0.1:${port} is taken: stop who has it, or name another port with --secure-port`,
    );
    const foreign = await refusal(["--bind-address=192.0.2.77"], folder.path);
    expect(foreign.line).to.include("192.0.2.77 is no address of this machine: name one with --bind-address");
    expect([taken.code, foreign.code]).to.deep.equal([1, 1]);
  });

  it("a folder that another has, that is a file, that cannot be written, or that is kcp's", async () => {
    await using first = await Start.ready();
    await using second = new Start({ in: first.folder.path });
    expect(await second.ended).to.include({ code: 1 });
    expect(second.stderr).to.match(
      /^virtual-workspaces start: \S+kcp is in use by process \d+, which serves at https:\S+ since .*--root-directory.*\n$/,
    );
    expect((await first.get("/readyz")).body).to.equal("ok");
    await using third = await other(first.path("data"));
    expect(await third.ended).to.include({ code: 1 });
    expect(third.stderr).to.match(/^virtual-workspaces start: the store in \S+data is in use by process \d+.*\n$/);

    using folder = tree({ kcp: "" });
    const file = await refusal([], folder.path);
    expect(file.line).to.match(/"\S+kcp" is a file, please delete or select another location/);
    const written = await cli("start", "--root-directory", "/sys/kcp");
    expect(written.stderr).to.match(
      /^virtual-workspaces start: \/sys\/kcp .*or name another folder with --root-directory\n$/,
    );
    using theirs = tree({ "kcp/etcd-server/member/wal": "" });
    const kcp = await refusal([], theirs.path);
    expect(kcp.line).to.match(/has the data of a kcp, which this server cannot read: name another folder/);
    expect([file.code, written.code, kcp.code]).to.deep.equal([1, 1, 1]);
  });

  /** One with a root directory of its own, over somebody else's data. */
  async function other(data: string): Promise<Start> {
    return new Start({ flags: ["--embedded-etcd-directory", data] });
  }

  it("files of its own that are damaged, lost, or somebody else's", async () => {
    await using first = await Start.ready();
    expect(await first.end("SIGTERM")).to.equal(0);
    const kept = new Map(
      ["admin.kubeconfig", "apiserver.crt", "client-ca.crt", "sa.key"].map((name) => [name, first.text(name)]),
    );
    const data = readFileSync(first.path("data/store/data.mdb"));
    const { privateKey } = signingKey();
    const foreign = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const cases: readonly (readonly [string, string | Buffer, RegExp])[] = [
      ["admin.kubeconfig", "users: [", /admin\.kubeconfig is no kubeconfig: put the one of before back/],
      ["admin.kubeconfig", "", /an empty token for the shard-admin user: put .* back, or remove/],
      [
        "admin.kubeconfig",
        (kept.get("admin.kubeconfig") ?? "").replaceAll(/token: .*/g, "token: other"),
        /is not valid anymore\. Remove file ".*\.admin-token-store" and restart kcp/,
      ],
      ["apiserver.crt", "nothing", /apiserver\.crt .* hold no PEM certificate and key: put them back/],
      ["client-ca.key", foreign, /client-ca\.key is not the key of the certificate in/],
      ["sa.key", "", /sa\.key holds no PEM private key: put it back, or remove it/],
      ["data/store/data.mdb", data.subarray(0, 10_000), /the store in \S+data.*it is damaged: restore a backup/],
    ];
    for (const [name, content, why] of cases) {
      const before = readFileSync(first.path(name));
      writeFileSync(first.path(name), content);
      await using again = new Start({ in: first.folder.path });
      expect(await again.ended, name).to.include({ code: 1 });
      expect(again.stderr)
        .to.match(why)
        .and.match(/^virtual-workspaces start: .*\n$/);
      writeFileSync(first.path(name), before);
    }
    await using again = await Start.ready({ in: first.folder.path });
    expect(again.token("shard-admin"), "nothing was replaced").to.equal(
      /name: shard-admin\n {2}user:\n {4}token: (\S+)/
        .exec(kept.get("admin.kubeconfig") ?? "")?.[1]
        ?.replaceAll('"', ""),
    );
  });

  it("an etcd that is not there", async () => {
    using folder = tree({});
    mkdirSync(join(folder.path, "kcp"));
    const { code, line } = await refusal(["--etcd-servers=http://127.0.0.1:1"], folder.path);
    expect(line).to.match(/See that etcd runs, that --etcd-servers names it/);
    expect(code).to.equal(1);
  });
});

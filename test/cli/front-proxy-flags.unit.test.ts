// The flags of kcp's own front proxy, as it lists them: all are known here, and none that protects something is ignored. Also
// the errors of invalid command lines.
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { isFlagOf, readFlags } from "../../packages/cli/src/flags/read.ts";
import { entryOf } from "../../packages/cli/src/flags/table.ts";
import { FRONT_PROXY } from "../../packages/cli/src/front-proxy/flags.ts";
import { frontProxyOptions } from "../../packages/cli/src/front-proxy/front-proxy-options.ts";
import { dividedLimits, sharedFailures } from "../../packages/cli/src/front-proxy/workers/divided-limits.ts";
import { root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";
import { SERVER } from "../front-proxy/support.ts";

const RECORDED = readFileSync(join(root, "test/cli/recorded/kcp-front-proxy-flags.txt"), "utf8").trim().split("\n");
/** Flags that decide who may do or read something, or what is recorded: none of these may be ignored. */
const PROTECTING =
  /^(authentication|client-ca|oidc|requestheader|tls|token|disable-http2|mapping|root-kube|shards-kube)/;
/** The issuer decides which of its keys are valid. */
const HARMLESS = ["oidc-signing-algs"];

const { ignored = [], refused = [], foreign = [] } = FRONT_PROXY.kcp ?? {};

describe("the flags of kcp's front proxy", () => {
  it("are all known, each in one way", () => {
    expect(RECORDED).to.have.length.above(50);
    for (const name of RECORDED) {
      const ways = [
        Object.hasOwn(FRONT_PROXY.flags, name),
        entryOf([...refused, ...foreign], name),
        entryOf(ignored, name),
      ];
      expect(isFlagOf(`--${name}`, FRONT_PROXY), name).to.equal(true);
      expect(ways.filter((way) => way !== false && way !== undefined).length, name).to.equal(1);
    }
  });

  it("are never ignored if they protect something", () => {
    const harmless = RECORDED.filter((name) => entryOf(ignored, name) !== undefined);
    expect(harmless.filter((name) => PROTECTING.test(name))).to.deep.equal(HARMLESS);
  });

  it("are rejected, with a remedy, if they need something that does not exist", () => {
    for (const [flag, remedy] of [
      ["--authentication-token-webhook-config-file=x", /the shards authenticate them: remove the flag/],
      ["--tls-cipher-suites=x", /only modern ciphers are used: remove the flag/],
      ["--nonsense=x", /unknown flag --nonsense/],
    ] as const)
      expect(() => readFlags([flag], FRONT_PROXY), flag).to.throw(remedy);
  });
});

describe("the command line of a front proxy", () => {
  const folder = tree({
    "serving.crt": SERVER.cert,
    "serving.key": SERVER.key,
    "admin.kubeconfig": "apiVersion: v1\nkind: Config\n",
    "mapping.yaml": "- path: /clusters/\n",
  });
  after(() => folder[Symbol.dispose]());

  const file = (name: string): string => join(folder.path, name);
  const kubeconfigs = [
    `--root-kubeconfig=${file("admin.kubeconfig")}`,
    `--shards-kubeconfig=${file("admin.kubeconfig")}`,
  ];
  const tls = [`--tls-cert-file=${file("serving.crt")}`, `--tls-private-key-file=${file("serving.key")}`];

  it("reports a missing flag, and the remedy", () => {
    const mapping = `--mapping-file=${file("empty.yaml")}`;
    for (const [args, message] of [
      [[], "--mapping-file is required: set it to a file that maps paths to servers"],
      [[mapping], `--mapping-file: the mapping file cannot be read: ENOENT`],
      [
        [`--mapping-file=${file("mapping.yaml")}`, ...kubeconfigs, ...tls],
        `--mapping-file: ${file("mapping.yaml")}:1: backend_server_ca is missing`,
      ],
      [["--view=x", mapping], "--view is not a flag of this server, which"],
      [["--anonymous-auth=false", mapping], "--anonymous-auth is not a flag of this server, which"],
      [["--etcd-credentials-file=x", mapping], "--etcd-credentials-file is not a flag of this server"],
    ] as const)
      expect(() => frontProxyOptions(args as readonly string[]), args.join(" ")).to.throw(message);
  });

  it("uses the authentication of workspace types only with kcp's gate", () => {
    const empty = file("none.yaml");
    writeFileSync(empty, "[]\n");
    const read = (...args: string[]) =>
      frontProxyOptions([`--mapping-file=${empty}`, ...kubeconfigs, ...tls, ...args]).issuerHosts;
    const on = "--feature-gates=WorkspaceAuthentication=true";
    expect(read()).to.equal(undefined);
    expect(read(on)).to.deep.equal([]);
    expect(read(on, "--workspace-issuer-allow=127.0.0.1")).to.deep.equal(["127.0.0.1"]);
    expect(() => read("--workspace-issuer-allow=127.0.0.1")).to.throw(
      "--workspace-issuer-allow needs --feature-gates=WorkspaceAuthentication=true",
    );
  });

  it("shows its flags at /flagz", () => {
    writeFileSync(file("none.yaml"), "[]\n");
    const { component } = frontProxyOptions([`--mapping-file=${file("none.yaml")}`, ...kubeconfigs, ...tls]);
    expect(component.name).to.equal("virtual-workspaces-front-proxy");
    expect(component.flags).to.include({ "mapping-file": file("none.yaml"), "path-mappings": "false" });
  });

  it("reads the number of workers, and rejects others with the remedy", () => {
    writeFileSync(file("none.yaml"), "[]\n");
    const read = (...args: string[]) =>
      frontProxyOptions([`--mapping-file=${file("none.yaml")}`, ...kubeconfigs, ...tls, ...args]).workers;
    expect([read(), read("--workers=3"), read("--workers=0")]).to.deep.equal([1, 3, availableParallelism()]);
    for (const wrong of ["many", "-1", "1.5", "513", "auto"])
      expect(() => read(`--workers=${wrong}`), wrong).to.throw(
        `invalid value "${wrong}" for --workers: use a number up to 512, or 0 for one for each processor`,
      );
  });

  it("divides the limits of a server by the number of workers, up to eight", () => {
    expect(dividedLimits(2)).to.deep.equal({
      ...{ inFlight: 200, queue: 1000, queuePerUser: 250, longRunning: 10_000, longRunningPerUser: 2500 },
    });
    expect(dividedLimits(64)).to.deep.equal(dividedLimits(8));
    const onFailure = (): void => undefined;
    expect(sharedFailures({ trusted: ["10.0.0.0/8"] }, { workers: 3, onFailure })).to.deep.equal({
      ...{ trusted: ["10.0.0.0/8"], pending: 34, onFailure },
    });
  });

  it("reads the addresses of proxies in front", () => {
    const read = (...args: string[]) =>
      frontProxyOptions([`--mapping-file=${file("none.yaml")}`, ...kubeconfigs, ...tls, ...args])
        .authenticationFailures;
    writeFileSync(file("none.yaml"), "[]\n");
    expect(read()).to.equal(undefined);
    expect(read("--proxy-addresses=10.0.0.0/8,fd00::1", "--proxy-addresses=::1")).to.deep.equal({
      trusted: ["10.0.0.0/8", "fd00::1", "::1"],
    });
    for (const wrong of ["example.com", "10.0.0.0/33", "10.0.0.0/", "/8", "10.0.0.0/8/8", "fd00::/129"])
      expect(() => read(`--proxy-addresses=${wrong}`), wrong).to.throw(
        `invalid value "${wrong}" for --proxy-addresses: use IP addresses`,
      );
  });
});

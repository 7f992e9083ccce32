// The flags of kcp's own `virtual-workspaces`, as it lists them: all are known here, and none that protects something is
// ignored.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { isFlagOf, readFlags } from "../../packages/cli/src/flags/read.ts";
import { entryOf } from "../../packages/cli/src/flags/table.ts";
import { SERVE } from "../../packages/cli/src/serve/flags.ts";
import { serveOptions } from "../../packages/cli/src/serve/serve-options.ts";
import { root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";

const RECORDED = readFileSync(join(root, "test/cli/recorded/kcp-virtual-workspaces-flags.txt"), "utf8")
  .trim()
  .split("\n");
/** Flags that decide who may do or read something, or what is recorded: none of these may be ignored. */
const PROTECTING =
  /^(authentication|audit-(webhook|policy|log-(path|mode|max|format))|client-ca|requestheader|tls|disable-http2|external|cache-|kubeconfig|context)/;
/** Flags that only set a duration or an amount. */
const HARMLESS = ["authentication-tolerate-lookup-failure"];

const { ignored = [], refused = [] } = SERVE.kcp ?? {};

describe("the flags of kcp's virtual-workspaces", () => {
  it("are all known, each in one way", () => {
    expect(RECORDED).to.have.length.above(60);
    for (const name of RECORDED) {
      const ways = [Object.hasOwn(SERVE.flags, name), entryOf(refused, name), entryOf(ignored, name)];
      const names = `--${name}`;
      expect(isFlagOf(names, SERVE), names).to.equal(true);
      expect(ways.filter((way) => way !== false && way !== undefined).length, names).to.equal(1);
    }
  });

  it("are never ignored if they protect something", () => {
    const harmless = RECORDED.filter((name) => entryOf(ignored, name) !== undefined);
    expect(harmless.filter((name) => PROTECTING.test(name))).to.deep.equal(HARMLESS);
  });

  it("cause a warning with the reason if they are ignored", () => {
    const { warnings } = readFlags(["--cert-dir=x", "--log-flush-frequency", "5s", "--audit-log-compress"], SERVE);
    expect(warnings).to.have.length(3);
    for (const warning of warnings) expect(warning).to.match(/^--[a-z-]+ is accepted and ignored: \w/);
  });

  for (const [flag, remedy] of [
    ["--authentication-skip-lookup=false", /set them with --client-ca-file and --requestheader-client-ca-file/],
    ["--tls-min-version=VersionTLS13", /the minimum is TLS 1.2: remove the flag/],
    ["--tls-cipher-suites=TLS_AES_128_GCM_SHA256", /only modern ciphers are used: remove the flag/],
    ["--tls-curve-preferences=29", /only modern key exchanges are used: remove the flag/],
    ["--tls-sni-cert-key=a,b", /that of --tls-cert-file/],
    ["--disable-http2-serving", /use a proxy in front without it/],
    ["--audit-webhook-config-file=x", /use --audit-log-path/],
    ["--audit-webhook-batch-throttle-enable", /use --audit-log-path/],
    ["--cache-server-kubeconfig-file=x", /use --cache-kubeconfig/],
    ["--authorization-mode=AlwaysAllow", /unknown flag --authorization-mode/],
  ] as const)
    it(`${flag} is rejected, with a remedy`, () => {
      expect(() => readFlags(["--kubeconfig=x", flag], SERVE)).to.throw(remedy);
    });

  it("are accepted if they ask for the only behavior", () => {
    const asked = ["--authentication-skip-lookup", "--tls-min-version=VersionTLS12", "--disable-http2-serving=false"];
    expect(readFlags(asked, SERVE).warnings).to.deep.equal([]);
  });
});

describe("the credentials of serve", () => {
  const [clients, proxies] = [Authority.root("clients"), Authority.root("proxies")];
  const { cert, key } = clients.issue({ name: "views", usages: [SERVER_AUTH] });
  const FILES = {
    kubeconfig: "",
    "view.ts": "",
    "tls.crt": cert,
    "tls.key": key,
    "clients.crt": clients.cert,
    "proxies.crt": proxies.cert,
    "both.crt": proxies.cert + clients.cert,
    "issuers.yaml":
      "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n- issuer: {url: https://idp.example.com, audiences: [vw]}\n  claimMappings: {username: {claim: sub, prefix: ''}}\n",
  };
  const NEEDED = ["--kubeconfig=kubeconfig", "--tls-cert-file=tls.crt", "--tls-private-key-file=tls.key"];

  /** Names the authenticators that the flags select. Files are in the working directory. */
  function authenticators(...args: readonly string[]): readonly string[] {
    using folder = tree(FILES);
    const before = process.cwd();
    process.chdir(folder.path);
    try {
      return serveOptions([...NEEDED, ...args], {}).authentication.authenticators.map(({ name }) => name);
    } finally {
      process.chdir(before);
    }
  }

  it("are the same as with the command start: issuers by flags, or by a file", () => {
    const oidc = authenticators("--oidc-issuer-url=https://idp.example.com", "--oidc-client-id=vw");
    expect(oidc).to.deep.equal(authenticators("--authentication-config=issuers.yaml"));
    expect(oidc).to.have.length(2);
    expect(authenticators("--anonymous-auth=false")).to.deep.equal([]);
  });

  for (const [args, why] of [
    [["--oidc-client-id=vw"], /--oidc-client-id has no effect without --oidc-issuer-url: set both/],
    [
      ["--oidc-issuer-url=https://idp.example.com", "--oidc-client-id=vw", "--authentication-config=issuers.yaml"],
      /--oidc-issuer-url and --authentication-config both configure issuers: use only one/,
    ],
    [["--requestheader-allowed-names=front"], /has no effect without --requestheader-client-ca-file: set both/],
    [
      ["--requestheader-username-headers=X-Remote-User"],
      /has no effect without --requestheader-client-ca-file: set both/,
    ],
    [
      ["--requestheader-group-headers=X-Remote-Group"],
      /has no effect without --requestheader-client-ca-file: set both/,
    ],
    [
      ["--client-ca-file=clients.crt", "--requestheader-client-ca-file=both.crt"],
      /share an authority, so that each of its users could act as any user: set --requestheader-allowed-names/,
    ],
    [["--kcp-views=false"], /--kcp-views=false leaves no view: name files of views with --view/],
  ] as const)
    it(`are not ${args.join(" ")}`, () => {
      expect(() => authenticators(...args)).to.throw(why);
    });

  it("may share an authority when the names of proxies are listed", () => {
    const shared = ["--client-ca-file=clients.crt", "--requestheader-client-ca-file=both.crt"];
    expect(authenticators(...shared, "--requestheader-allowed-names=front")).to.deep.equal([
      "request headers",
      "client certificates",
      "anonymous",
    ]);
    expect(authenticators("--client-ca-file=clients.crt", "--requestheader-client-ca-file=proxies.crt")).to.have.length(
      3,
    );
  });
});

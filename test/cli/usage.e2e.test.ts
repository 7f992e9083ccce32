// A mistake in the command line ends with 2 and names the remedy; an error of the environment ends with 1.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";
import { Authority } from "../_support/certificates.ts";
import { cli } from "./support/dev.ts";

const DEV = ["dev", "."] as const;
const ETCD = [...DEV, "--etcd-servers", "https://a:1"] as const;

describe("virtual-workspaces", function () {
  this.timeout(30_000);

  it("--help names every command, --version the version of the package", async () => {
    const help = await cli("--help");
    expect(help).to.include({ code: 0, stderr: "" });
    expect(help.stdout)
      .to.match(/^ {2}start {2,}/m)
      .and.match(/^ {2}front-proxy {2,}/m)
      .and.match(/^ {2}dev <file or folder>\.\.\. /m)
      .and.match(/^ {2}store backup\|restore /m)
      .and.match(/^ {2}conformance <url> /m);
    const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as {
      version: string;
    };
    expect((await cli("--version")).stdout).to.equal(`${version}\n`);
  });

  it("help <command>, <command> help and <command> --help print the same", async () => {
    const { stdout, code } = await cli("store", "--help");
    expect(code).to.equal(0);
    expect((await cli("help", "store")).stdout).to.equal(stdout);
    expect((await cli("help", "store", "backup")).stdout).to.equal(stdout);
    expect((await cli("store", "help")).stdout).to.equal(stdout);
    expect((await cli("help")).stdout).to.equal((await cli("--help")).stdout);
    expect((await cli("--help")).stdout).to.match(
      /Use "virtual-workspaces <command> --help" for the flags of a command\.\n$/,
    );
  });

  for (const args of [
    ["--secure-prot=0"],
    ["--secure-prot", "0"],
    ["--secure_prot=0"],
    ["--tls-cert-fil=x"],
    ["--cleint-ca-file", "x"],
  ] as const)
    it(`rejects start ${args.join(" ")}, suggests the flag that was meant, and does not listen`, async () => {
      const { code, stdout, stderr } = await cli("start", "--root-directory=/nonexistent/kcp", ...args);
      expect(stderr).to.match(
        /^virtual-workspaces start: unknown flag --\S+: did you mean --(secure-port|tls-cert-file|client-ca-file)\?; see virtual-workspaces start --help\n$/,
      );
      expect([code, stdout]).to.deep.equal([2, ""]);
    });

  it("<command> --help names its flags", async () => {
    expect((await cli("dev", "--help")).stdout).to.match(/--port[\s\S]*--dir[\s\S]*--quiet/);
    expect((await cli("dev", "--help")).stdout).to.match(/--data-dir[\s\S]*--etcd-servers[\s\S]*ETCD_PASSWORD/);
    expect((await cli("start", "--help")).stdout).to.match(/--root-directory[\s\S]*--etcd-servers[\s\S]*--v <number>/);
    expect((await cli("store", "--help")).stdout).to.match(
      /--to <file>[\s\S]*--from[\s\S]*--data-dir[\s\S]*--etcd-prefix/,
    );
    expect((await cli("conformance", "--help")).stdout).to.match(
      /--certificate-authority[\s\S]*--other-token-file[\s\S]*--strict/,
    );
  });

  const mistakes: readonly (readonly [readonly string[], RegExp])[] = [
    [
      [],
      /missing command: use one of start, serve, front-proxy, agent, dev, store, manifests, doctor, console, conformance, completion; see virtual-workspaces --help/,
    ],
    [
      ["serving"],
      /unknown command "serving": use one of start, serve, front-proxy, agent, dev, store, manifests, doctor, console, conformance, completion/,
    ],
    [["constructor"], /unknown command "constructor"/],
    [["stert"], /unknown command "stert": did you mean "start"\?/],
    [["help", "stroe"], /unknown command "stroe": did you mean "store"\?/],
    [["--loud"], /unknown flag "--loud"/],
    [["dev"], /no module given: name one with a view, or a folder of them, as in virtual-workspaces dev \.\/view\.ts/],
    [["dev", "nowhere.ts"], /file or folder nowhere.ts does not exist in /],
    [["dev", ".", "--prot", "1"], /unknown flag --prot: did you mean --port\?; see .* dev --help/],
    [
      ["dev", ".", "--port", "http"],
      /invalid value "http" for --port: use a number from 1 to 65535, or 0 for any free port/,
    ],
    [["dev", ".", "--port", "65536"], /invalid value "65536" for --port: use a number/],
    [["dev", ".", "--port"], /--port needs a value: --port <value>/],
    [[...DEV, "--data-dir", "d", "--etcd-servers", "http://x:1"], /--data-dir and --etcd-servers both select a store/],
    [[...DEV, "--data-dir", ""], /invalid value "" for --data-dir: name a folder/],
    [[...DEV, "--etcd-prefix", "/x"], /--etcd-prefix needs --etcd-servers: set both/],
    [
      [...DEV, "--etcd-servers", "localhost:2379"],
      /localhost:2379" for --etcd-servers: use URLs without path and query, separated by commas: https/,
    ],
    [[...DEV, "--etcd-servers", "http://a:1,"], /invalid value "" for --etcd-servers: use URLs/],
    [[...DEV, "--etcd-servers", "http://a:1,https://b:1"], /it mixes https:\/\/ and http:\/\/; use one of them/],
    [[...DEV, "--etcd-servers", "http://a:1", "--etcd-cafile", "x"], /cannot read --etcd-cafile x: ENOENT/],
    [
      [...DEV, "--etcd-servers", "http://a:1/x"],
      /invalid value "http:\/\/a:1\/x" for --etcd-servers: use URLs without path and query, separated by commas: https:\/\/127.0.0.1:2379/,
    ],
    [[...DEV, "--etcd-servers", "http://a:1#x"], /invalid value "http:\/\/a:1#x" for --etcd-servers: use URLs/],
    [
      [...DEV, "--etcd-servers", "http://me:sec,ret@a:1"],
      /dev: invalid value for --etcd-servers: a URL contains a user; use --etcd-credentials-file instead; see/,
    ],
    [[...ETCD, "--etcd-cafile", ""], /invalid value "" for --etcd-cafile: name a file/],
    [
      [...ETCD, "--etcd-cafile", "package.json"],
      /invalid --etcd-cafile package.json: it contains no PEM certificate: error/,
    ],
    [
      [...ETCD, "--etcd-certfile", "package.json", "--etcd-keyfile", "package.json"],
      /invalid --etcd-certfile package.json and --etcd-keyfile package.json: they must be a PEM certificate and its unencrypted PEM key/,
    ],
    [[...ETCD, "--etcd-certfile", "x"], /--etcd-certfile and --etcd-keyfile must be set together/],
    [[...ETCD, "--etcd-cafile", "none"], /cannot read --etcd-cafile none: ENOENT/],
    [[...ETCD, "--etcd-credentials-file", "none"], /cannot read --etcd-credentials-file none: ENOENT/],
    [[...ETCD, "--etcd-credentials-file", "package.json"], /package.json: it must contain one line name:password/],
    [["store"], /missing command: use backup or restore/],
    [["store", "bakup"], /unknown command "bakup": did you mean "backup"\?/],
    [["agent", "tokn"], /unknown command "agent tokn": did you mean "agent token"\?/],
    [["doctor", "exprot", "widgets"], /unknown command "exprot": did you mean "export"\?/],
    [["doctor", "lab"], /unexpected argument "lab": use a URL, export, mount or clusterproxy/],
    [["store", "copy"], /unknown command "copy": use one of backup, restore/],
    [["store", "backup"], /--to is required: set it to the file to write/],
    [["store", "backup", "--to", "x"], /no store given: set --data-dir or --etcd-servers/],
    [["store", "backup", "--to", "x", "--from", "y"], /--from works only with restore/],
    [["store", "restore", "--data-dir", "d"], /--from is required: set it to the file of a backup/],
    [["store", "restore", "--data-dir", "d", "--from", "x", "--to", "y"], /--to works only with backup/],
    [["conformance"], /expected one URL/],
    [
      ["conformance", "localhost:6444"],
      /invalid URL "localhost:6444": use one that begins with https:\/\/ or http:\/\//,
    ],
    [["conformance", "https://x", "--client-key", "k"], /--client-certificate and --client-key must be set together/],
    [["conformance", "https://x", "--token-file", "none"], /cannot read --token-file none: ENOENT/],
    [["conformance", "https://x", "--parent", "root"], /--parent works only for space providers: add --space-provider/],
    [
      ["conformance", "https://x", "--space-provider", "--resource", "a"],
      /--resource works only for API servers: remove it/,
    ],
    [
      ["conformance", "https://x", "--space-provider", "--ready-within", "soon"],
      /invalid value "soon" for --ready-within: use a number of seconds/,
    ],
  ];
  for (const [args, message] of mistakes) {
    it(`${args.join(" ") || "nothing"} ends with 2 and a remedy`, async () => {
      const { code, stdout, stderr } = await cli(...args);
      expect(stderr)
        .to.match(message)
        .and.match(/^virtual-workspaces/);
      expect(stderr.trimEnd().split("\n"), "no stack").to.have.length(1);
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: "" });
    });
  }

  it("rejects a certificate with another key, with 2 and a remedy", async () => {
    const authority = Authority.root("etcd");
    using folder = tree({
      "us.crt": authority.issue({ name: "us" }).cert,
      "us.key": authority.issue({ name: "us" }).key,
    });
    const [cert, key] = [join(folder.path, "us.crt"), join(folder.path, "us.key")];
    const { code, stderr } = await cli(...ETCD, "--etcd-certfile", cert, "--etcd-keyfile", key);
    expect(stderr).to.match(
      /^.*--etcd-certfile .*us\.crt and --etcd-keyfile .*us\.key: they must be a PEM certificate and its unencrypted PEM key.*\n$/,
    );
    expect(code).to.equal(2);
  });

  it("ends with 1 and the reason for modules that cannot be served", async () => {
    using folder = tree({
      "empty.ts": "",
      "broken.ts": "export default {;",
      "throws.ts": "export {};throw new Error('no luck');",
    });
    const dev = (file: string) => cli("dev", join(folder.path, file), "--dir", join(folder.path, "state"));
    for (const [file, why] of [
      ["empty.ts", /empty\.ts: its default export is not a view. Write `export default defineVirtualWorkspace/],
      ["broken.ts", /broken\.ts:1[\s\S]*SyntaxError/],
      ["throws.ts", /Error: no luck\n {4}at file:\/\/\S+throws\.ts:1:17$/m],
    ] as const) {
      const { code, stderr } = await dev(file);
      expect(stderr).to.match(why);
      expect(stderr, "only frames of the module itself").not.to.match(/node:internal|packages\/cli/);
      expect(code).to.equal(1);
    }
  });
});

// A mistake in the command line ends with 2 and names the remedy; a failure of the world with 1.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";
import { cli } from "./support/dev.ts";

describe("virtual-workspaces", function () {
  this.timeout(30_000);

  it("--help names every command, --version the version of the package", async () => {
    const help = await cli("--help");
    expect(help).to.include({ code: 0, stderr: "" });
    expect(help.stdout)
      .to.match(/^ {2}dev <file or folder>\.\.\. /m)
      .and.match(/^ {2}conformance <url> /m);
    const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as {
      version: string;
    };
    expect((await cli("--version")).stdout).to.equal(`${version}\n`);
  });

  it("<command> --help names its flags", async () => {
    expect((await cli("dev", "--help")).stdout).to.match(/--port[\s\S]*--dir[\s\S]*--quiet/);
    expect((await cli("conformance", "--help")).stdout).to.match(
      /--certificate-authority[\s\S]*--other-token-file[\s\S]*--strict/,
    );
  });

  const mistakes: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /a command is missing. The commands are dev, conformance; see virtual-workspaces --help/],
    [["serve"], /there is no command serve. The commands are dev, conformance/],
    [["constructor"], /there is no command constructor/],
    [["--loud"], /there is no flag --loud/],
    [["dev"], /name a module with a view, or a folder of them: virtual-workspaces dev \.\/view\.ts/],
    [["dev", "nowhere.ts"], /there is no file or folder nowhere.ts in /],
    [["dev", ".", "--prot", "1"], /Unknown option '--prot'. The flags are --port, --dir, --quiet; see .* dev --help/],
    [["dev", ".", "--port", "http"], /--port http: give a number from 1 to 65535, or 0 for any free port/],
    [["dev", ".", "--port", "65536"], /--port 65536: give a number/],
    [["dev", ".", "--port"], /Option '--port <value>' argument missing/],
    [["conformance"], /name one URL/],
    [["conformance", "localhost:6444"], /localhost:6444 is no URL that begins with https:\/\/ or http:\/\//],
    [["conformance", "https://x", "--client-key", "k"], /--client-certificate and --client-key go together/],
    [["conformance", "https://x", "--token-file", "none"], /--token-file none cannot be read: ENOENT/],
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

  it("modules that cannot be served end with 1 and say why", async () => {
    using folder = tree({
      "empty.ts": "",
      "broken.ts": "export default {;",
      "throws.ts": "export {};throw new Error('no luck');",
    });
    const dev = (file: string) => cli("dev", join(folder.path, file), "--dir", join(folder.path, "state"));
    for (const [file, why] of [
      ["empty.ts", /empty\.ts: its default export is no view. Write `export default defineVirtualWorkspace/],
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

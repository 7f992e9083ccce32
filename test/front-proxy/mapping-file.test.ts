// Mapping files like kcp's, and the errors of invalid ones: the line, the fault, and the remedy.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readMapping } from "@virtual-workspaces/front-proxy";
import { expect } from "chai";
import { SERVER } from "./support.ts";

describe("readMapping", () => {
  const folder = mkdtempSync(join(tmpdir(), "mapping-"));
  const file = join(folder, "mapping.yaml");
  const [ca, cert, key] = ["ca.crt", "proxy.crt", "proxy.key"].map((name) => join(folder, name));
  const files = `backend_server_ca: ${ca}\n  proxy_client_cert: ${cert}\n  proxy_client_key: ${key}`;

  before(() => {
    writeFileSync(ca as string, SERVER.cert);
    writeFileSync(cert as string, SERVER.cert);
    writeFileSync(key as string, SERVER.key);
  });
  after(() => rmSync(folder, { recursive: true }));

  const read = (text: string): ReturnType<typeof readMapping> => {
    writeFileSync(file, text);
    return readMapping(file);
  };

  it("reads kcp's fields, and several backends", async () => {
    const [clusters, services, both] = read(`# as kcp writes it
- path: /clusters/
  backend: https://localhost:6443
  ${files}
- path: /services/apiexport/
  backend: https://localhost:6444/base
  ${files}
  user_header: X-My-User
  group_header: X-My-Group
  extra_header_prefix: X-My-Extra-
- path: /e2e/clusters/{cluster}
  backends: [https://a.example:1, "https://b.example:2"]
  ${files}
`);
    expect(clusters).to.deep.include({ path: "/clusters/", backends: [], tls: { ca: SERVER.cert } });
    expect(await clusters?.credentials?.get()).to.deep.equal({ cert: SERVER.cert, key: SERVER.key });
    expect(clusters?.headers).to.deep.equal({
      user: "X-Remote-User",
      uid: "X-Remote-Uid",
      group: "X-Remote-Group",
      extraPrefix: "X-Remote-Extra-",
    });
    expect(services?.backends).to.deep.equal(["https://localhost:6444/base"]);
    expect(services?.headers).to.include({ user: "X-My-User", group: "X-My-Group", extraPrefix: "X-My-Extra-" });
    expect(both?.backends).to.deep.equal(["https://a.example:1", "https://b.example:2"]);
  });

  const whole = (entry: string): string => `- ${entry}\n  ${files}\n`;
  const wrong: Record<string, readonly [text: string, line: number, message: string]> = {
    "a file without a list": ["path: /", 1, "not a list of mappings"],
    "an empty file": ["", 1, "not a list of mappings"],
    "invalid YAML": ["- path: /a\n\tb: c\n", 2, ""],
    "an entry that is not a mapping": ["- /clusters/\n", 1, "not a mapping: set path, backend and files"],
    "an unknown field": [
      whole("path: /a\n  backends: [https://a]\n  user-header: x"),
      3,
      "unknown field user-header: use one of path,",
    ],
    "an entry without a path": [whole("backend: https://a"), 1, "path is missing"],
    "a path without a slash": [whole("backend: https://a\n  path: a"), 2, "path a: must begin with a slash"],
    "a path with an empty segment": [whole("path: /a//b"), 1, "must not have empty segments"],
    "a path with dot segments": [whole("path: /a/../b"), 1, "must not have . or .. segments"],
    "a path with an odd placeholder": [whole("path: /a/{}"), 1, "segment {} must be a word or a {name}"],
    "an entry without a backend": [whole("path: /a"), 1, "backend is missing: set the URL of a server"],
    "plain http": [whole("path: /a\n  backend: http://a"), 2, 'invalid backend "http://a": use an https URL'],
    "a backend with a user": [whole("path: /a\n  backend: https://u:p@a"), 2, "without user, query and fragment"],
    "a backend that is not a string": [whole("path: /a\n  backend: 1"), 2, "backend must be a string"],
    "both backend and backends": [
      whole("path: /a\n  backend: https://a\n  backends: [https://b]"),
      2,
      "backend and backends exclude each other",
    ],
    "backends that are not a list": [whole("path: /a\n  backends: https://b"), 2, "backends must be a list of URLs"],
    "an invalid header name": [
      whole("path: /a\n  backend: https://a\n  user_header: X User"),
      3,
      "use the name of an HTTP header",
    ],
    "a duplicate path": [
      `${whole("path: /a/{x}\n  backend: https://a")}${whole("path: /a/{y}/\n  backend: https://a")}`,
      6,
      "duplicate path /a/{y}/, first at",
    ],
  };
  for (const [name, [text, line, message]] of Object.entries(wrong))
    it(`rejects ${name}`, () => {
      expect(() => read(text))
        .to.throw(`${file}:${line}: `)
        .with.property("message")
        .that.contains(message);
    });

  it("rejects files that do not exist or are invalid", () => {
    const [entry] = ["- path: /a\n  backend: https://a\n"];
    expect(() => read(entry as string)).to.throw(`${file}:1: backend_server_ca is missing`);
    const missing = `${entry}  backend_server_ca: ${ca}\n  proxy_client_cert: ${folder}/none\n  proxy_client_key: ${key}\n`;
    expect(() => read(missing)).to.throw(`${file}:4: proxy_client_cert cannot be read: ENOENT`);
    const none = `${entry}  backend_server_ca: ${key}\n  proxy_client_cert: ${cert}\n  proxy_client_key: ${key}\n`;
    expect(() => read(none)).to.throw(`${file}:3: backend_server_ca: ${key} has no PEM certificates`);
    expect(() => readMapping(join(folder, "nowhere"))).to.throw("the mapping file cannot be read: ENOENT");
  });
});

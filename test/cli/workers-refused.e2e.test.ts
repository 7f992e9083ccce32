// Configurations that several processes cannot serve fail at once, with one message.
import { expect } from "chai";
import { type Tree, tree } from "../_setup/tree.ts";
import { createAuthority } from "../_support/server.ts";
import { cli } from "./support/dev.ts";

/** A server that receives no request. */
const KUBECONFIG = JSON.stringify({
  clusters: [{ name: "one", cluster: { server: "https://127.0.0.1:1" } }],
  contexts: [{ name: "one", context: { cluster: "one" } }],
  "current-context": "one",
});

describe("virtual-workspaces serve --workers rejects", () => {
  const authority = createAuthority();
  let folder: Tree;

  before(() => {
    folder = tree({
      "view.ts": "export default 1;",
      kubeconfig: KUBECONFIG,
      ...{ "tls.crt": authority.server.cert, "tls.key": authority.server.key, "none.pem": "nothing" },
      "policy.yaml": "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n",
    });
  });

  after(() => folder[Symbol.dispose]());

  const MISTAKES: Readonly<Record<string, readonly [readonly string[], string]>> = {
    "no number": [
      ["--workers=many"],
      'invalid value "many" for --workers: use a number up to 512, or 0 for one for each processor',
    ],
    "too many": [["--workers", "1000"], 'invalid value "1000" for --workers: use a number up to 512'],
    "an audit log that several would write": [
      ["--workers=2", "--audit-log-path=audit.log", "--audit-policy-file=policy.yaml"],
      "--audit-log-path works with a file for a single process only: with --workers or --peers, use -",
    ],
    "a store of one process": [
      ["--workers=2", "--data-dir=x"],
      "--data-dir works with a single process only: with --workers or --peers, use --etcd-servers",
    ],
    "replicas that it cannot know": [["--peers=https://a:6444"], "must be set together: --peer-ca-file is missing"],
    "files for no replicas": [["--peer-ca-file=tls.crt"], "must be set together: --peers is missing"],
    "a replica in the open": [
      [
        "--peers=http://a:6444",
        "--peer-ca-file=tls.crt",
        "--proxy-client-cert-file=tls.crt",
        "--proxy-client-key-file=tls.key",
      ],
      'invalid value "http://a:6444" for --peers: use URLs of replicas, separated by commas',
    ],
    "an authority that is none": [
      [
        "--peers=https://a:6444",
        "--peer-ca-file=none.pem",
        "--proxy-client-cert-file=tls.crt",
        "--proxy-client-key-file=tls.key",
      ],
      "it contains no PEM",
    ],
  };

  for (const [what, [flags, message]] of Object.entries(MISTAKES))
    it(what, async () => {
      const inFolder = flags.map((flag) => flag.replace(/=(\w+\.\w+)$/, `=${folder.path}/$1`));
      const { code, stderr } = await cli(
        ...["serve", "--view", `${folder.path}/view.ts`, "--kubeconfig", `${folder.path}/kubeconfig`],
        ...["--tls-cert-file", `${folder.path}/tls.crt`, "--tls-private-key-file", `${folder.path}/tls.key`],
        ...inFolder,
      );
      expect(code).to.equal(2);
      expect(stderr).to.include(message).and.not.include(" at ");
    }).timeout(20_000);

  it("a view that cannot be served, with the message of one worker", async () => {
    const { code, stderr } = await cli(
      ...["serve", "--view", `${folder.path}/view.ts`, "--kubeconfig", `${folder.path}/kubeconfig`, "--workers=2"],
      ...["--tls-cert-file", `${folder.path}/tls.crt`, "--tls-private-key-file", `${folder.path}/tls.key`],
    );
    expect(code).to.equal(1);
    expect(stderr.trim().split("\n")).to.have.length(1);
    expect(stderr).to.match(/^virtual-workspaces serve: --view /);
  }).timeout(30_000);
});

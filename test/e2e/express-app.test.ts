// examples/express-app.ts, in its own process: real kubectl watches what the application's own route adds, and a SIGTERM ends
// the watch cleanly.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { localNode, root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";
import { startKubectl } from "../go/support/kubectl.ts";
import { Program } from "../go/support/program.ts";
import { kubectls, needsKubectl } from "./support/kubectls.ts";

const APP = ["--conditions=@virtual-workspaces/source", join(root, "examples/express-app.ts"), "0"];

describe("examples/express-app.ts", function () {
  this.timeout(60_000);
  before(needsKubectl);

  for (const file of kubectls())
    it(`serves ${file} over TLS, and ends its watch cleanly when it is stopped`, async () => {
      using folder = tree({});
      await using app = new Program(localNode, APP, { TODOS_TOKEN: "secret", cwd: folder.path });
      const line = await app.until("a line", () => app.lines[0], 30_000);
      const [url = ""] = line.split(",");
      const home = { home: folder.path, kubeconfig: "/dev/null" };
      const place = `${url}/services/express-app/clusters/root`;
      const authority = join(folder.path, "express-app-tls/ca.crt");
      const flags = [`--server=${place}`, `--certificate-authority=${authority}`, "--token=secret"];
      await using watch = startKubectl(file, home, [...flags, "get", "todos", "--watch", "--output-watch-events"]);
      await watch.until("the existing todo", () => watch.lines.some((text) => /^ADDED .*Buy milk/.test(text)));
      await using upstream = new Upstream({ url, tls: { ca: readFileSync(authority) } });
      const headers = ["Content-Type", "application/json"];
      const { status } = await upstream.send({
        method: "POST",
        path: "/todos",
        headers,
        body: '{"title":"Buy bread"}',
      });
      expect(status).to.equal(201);
      await watch.until("the new one", () => watch.lines.some((text) => /^ADDED .*Buy bread/.test(text)));
      app.signal("SIGTERM");
      expect(await app.ended).to.eql({ code: 0, signal: null });
      expect(await watch.ended).to.include({ code: 0 });
      expect([app.stderr, watch.stderr]).to.eql(["", ""]);
    });
});

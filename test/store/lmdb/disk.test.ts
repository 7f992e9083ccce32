import { lmdbStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { tree } from "../../_setup/tree.ts";
import { put } from "../contract/subject.ts";
import { command, run } from "./child.ts";

/** Runs tasks with a store on a small in-memory disk that only they see. */
const onSmallDisk = (path: string, ...script: string[]): string[] => [
  "unshare",
  process.getuid?.() === 0 ? "-m" : "-rm",
  "sh",
  "-ec",
  [`mount -t tmpfs -o size=12m tmpfs ${path}`, ...script].join("\n"),
];

const line = (task: string, dir: string): string => command(task, dir).join(" ");

describe("the disk of a store on LMDB", () => {
  it("fails unexpectedly although it has space, like a full one", async () => {
    using folder = tree({});
    const { said, code, errors } = await run(["sh", "-ec", `ulimit -f 16384\nexec ${line("overfill", folder.path)}`]);
    expect(code, errors).to.equal(0);
    const [{ written }] = said as [{ written: number }];
    expect(written).to.be.above(20);
    expect(said).to.deep.equal([{ full: "NoSpace", again: "NoSpace", written, head: written + 1, found: written }]);
    await using store = await lmdbStore({ dir: folder.path });
    expect(await store.head()).to.equal(written + 1);
    const outcome = await store.commit({ conditions: [], operations: [put("after", "1")] });
    expect(outcome).to.deep.equal({ committed: true, revision: written + 2 });
  }).timeout(20_000);
});

describe("a small disk of a store on LMDB", () => {
  before("can be made", async function () {
    using folder = tree({});
    if ((await run(onSmallDisk(folder.path))).code !== 0) this.skip(); // this system does not permit mounts
  });

  it("causes a plain error when full, loses no data, and works again when there is space", async () => {
    using folder = tree({});
    const { said, code, errors } = await run(onSmallDisk(folder.path, line("fill", `${folder.path}/d`)));
    expect(code, errors).to.equal(0);
    const [full, after, reopened] = said as { written: number; head: number }[];
    const written = full?.written ?? 0;
    expect(written).to.be.above(20);
    expect(said).to.deep.equal([
      { full: "NoSpace", again: "NoSpace", written, head: written + 1, found: written },
      { after: written + 2 },
      { reopened: written + 2, found: written + 1, left: ["lock", "store"] },
    ]);
    expect([after, reopened]).to.have.length(2);
  }).timeout(20_000);

  it("can be opened only for reading if it is read-only", async () => {
    using folder = tree({});
    const dir = `${folder.path}/d`;
    const remount = `mount -o remount,ro ${folder.path}`;
    const { said, errors } = await run(
      onSmallDisk(folder.path, line("open", dir), remount, `${line("open", dir)} || echo $?`, line("look", dir)),
    );
    const [, refused, code, looked] = said as [unknown, { code: string; message: string }, number, unknown];
    expect(refused.code, errors).to.equal("ReadOnly");
    expect(refused.message).to.contain(dir).and.contain("write permission");
    expect(code).to.equal(1);
    expect(looked).to.deep.equal({ head: 1, keys: [] });
  }).timeout(20_000);
});

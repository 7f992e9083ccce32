// Token files of kcp and Kubernetes: their format, and that no error quotes a token.
import { join } from "node:path";
import type { User } from "@virtual-workspaces/framework";
import { tokenFile } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";

function read(content: string) {
  using folder = tree({ "tokens.csv": content });
  return tokenFile(join(folder.path, "tokens.csv"));
}

const userOf = (content: string, token: string): User | undefined =>
  read(content).authenticateToken(token) as User | undefined;

describe("a token file", () => {
  it("has a token, a user, a uid and groups on each line", () => {
    const file = '\ufeffsecret,alice,1,"admins,staff"\r\n\r\n"to""ken",zoë,2\n"a,b","Miss, B",,one\n';
    expect(userOf(file, "secret")).to.deep.include({
      name: "alice",
      uid: "1",
      groups: ["admins", "staff", "system:authenticated"],
    });
    expect(userOf(file, 'to"ken')).to.deep.include({ name: "zoë", uid: "2", groups: ["system:authenticated"] });
    expect(userOf(file, "a,b")).to.deep.include({ name: "Miss, B", uid: "", groups: ["one", "system:authenticated"] });
    for (const token of ["alice", "", "token", "secret ", "__proto__"]) expect(userOf(file, token)).to.equal(undefined);
  });

  const bad: Record<string, [content: string, problem: string]> = {
    "two columns": [
      "ok,a,1\nsecret,alice\n",
      'line 2: malformed entry: write token,user,uid or token,user,uid,"group1,group2"',
    ],
    "no token": [",alice,1\n", "line 1: malformed entry: write token,user,uid"],
    "no user": ["secret,,1\n", "line 1: malformed entry: write token,user,uid"],
    "a duplicate token": ["secret,a,1\nsecret,b,2\n", "line 2: duplicate token"],
    "a stray quote": ['ok,a,1\nsec"ret,alice,1\n', "line 2: invalid CSV"],
    "an unclosed quote": ['"secret,alice,1\n', "invalid CSV"],
  };
  for (const [what, [content, problem]] of Object.entries(bad)) {
    it(`is rejected, and not quoted, with ${what}`, () => {
      expect(() => read(content))
        .to.throw(problem)
        .with.property("message")
        .that.does.not.contain("ret");
    });
  }

  it("is named when it is missing", () => {
    expect(() => tokenFile("/nowhere/tokens.csv")).to.throw("/nowhere/tokens.csv");
  });
});

/** A line of a tree, with columns behind its name, and what hangs below it. */
export interface Branch {
  readonly label: string;
  readonly columns: readonly string[];
  readonly branches: readonly Branch[];
}

/** As kcp draws it (xlab/treeprint), columns aligned as Go's tabwriter does, with two spaces between. */
export function drawn(root: Branch): string {
  const lines = [{ text: ".", columns: [] as readonly string[] }, ...linesOf([root], "")];
  const widths: number[] = [];
  for (const { text, columns } of lines.filter((line) => line.columns.length > 0))
    for (const [at, cell] of [text, ...columns].entries()) widths[at] = Math.max(widths[at] ?? 0, [...cell].length);
  return lines.map(({ text, columns }) => row([text, ...columns], widths)).join("\n");
}

interface Line {
  readonly text: string;
  readonly columns: readonly string[];
}

function linesOf(branches: readonly Branch[], indent: string): Line[] {
  return branches.flatMap(({ label, columns, branches: below }, at) => {
    const last = at === branches.length - 1;
    const line = { text: `${indent}${last ? "└── " : "├── "}${label}`, columns };
    return [line, ...linesOf(below, `${indent}${last ? "    " : "│   "}`)];
  });
}

function row(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, at) => (at === cells.length - 1 ? cell : cell + " ".repeat((widths[at] ?? 0) - [...cell].length + 2)))
    .join("");
}

// Why: textlint has no processor for TypeScript, and regular expressions cannot tell a comment from a string. This plugin parses a file with the
// compiler and hands textlint its docstrings, comments, messages and test titles as paragraphs, each `kind` marked on the node.
import ts from "typescript";

/** @typedef {"docstring" | "comment" | "message" | "title"} Kind */
/** @typedef {{ from: number, to: number, code?: boolean }} Piece */

const TITLED = new Set(["describe", "it", "specify", "context"]);
/** Directives of other tools are no prose. */
const DIRECTIVE = /^\/[/*]+\s*(biome-|@ts-|eslint|#region|#endregion|c8 |v8 |<reference)/;
/** Inline code, links and addresses: no rule reads them. */
const INLINE = /`[^`\n]*`|\{@\w+[^}]*\}|\bhttps?:\/\/\S+/g;

/** @param {string} text @param {string} path */
function parseTypeScript(text, path) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  const isTest = /(^|\/)test\//.test(path);
  /** @type {any[]} */
  const blocks = [];
  /** @type {[number, number][]} */
  const literals = [];
  const visit = (/** @type {ts.Node} */ node, /** @type {boolean} */ inside) => {
    if (ts.isStringLiteralLike(node) || ts.isRegularExpressionLiteral(node) || ts.isTemplateHead(node)) literal(node);
    else if (ts.isTemplateMiddle(node) || ts.isTemplateTail(node)) literal(node);
    let covered = inside;
    if (!inside && isText(node)) {
      const kind = isTitle(node) ? "title" : isTest || !isMessage(node) ? undefined : "message";
      const list = kind === undefined ? [] : pieces(node);
      if (kind === "title" || (kind === "message" && looksLikeProse(list)))
        push(kind, list, { escapes: true, opening: isHelp(node) });
      covered = true;
    }
    ts.forEachChild(node, (child) => visit(child, covered && !ts.isTemplateSpan(node) && isText(child)));
  };
  const literal = (/** @type {ts.Node} */ node) => literals.push([node.getStart(file), node.end]);
  const looksLikeProse = (/** @type {Piece[]} */ list) => {
    const plain = list.map(({ from, to, code }) => (code ? "X" : text.slice(from, to))).join("");
    if (/\n/.test(plain) && /^\s*(apiVersion|import|const|case|elif|esac|fi|done)\b|^\s*[{<]/m.test(plain))
      return false;
    return (
      /[a-z]{2,}[,:;]? ([a-z]{2,}|["“X]|an?\b)/i.test(plain) && !/^[\w.-]+=/.test(plain) && /\s/.test(plain.trim())
    );
  };
  /** The literals of a text, and as code whatever stands between them. @param {ts.Node} node @returns {Piece[]} */
  function pieces(node) {
    if (ts.isBinaryExpression(node)) return [...pieces(node.left), ...pieces(node.right)];
    if (ts.isParenthesizedExpression(node)) return pieces(node.expression);
    if (ts.isStringLiteralLike(node)) return [{ from: node.getStart(file) + 1, to: node.end - 1 }];
    if (!ts.isTemplateExpression(node)) return [{ from: node.getStart(file), to: node.end, code: true }];
    const list = [{ from: node.head.getStart(file) + 1, to: node.head.end - 2 }];
    for (const span of node.templateSpans) {
      list.push(/** @type {Piece} */ ({ from: span.expression.getStart(file), to: span.expression.end, code: true }));
      list.push({
        from: span.literal.getStart(file) + 1,
        to: span.literal.end - (ts.isTemplateTail(span.literal) ? 1 : 2),
      });
    }
    return list;
  }
  /** @param {Kind} kind @param {Piece[]} list @param {object} more what rules see on the node */
  function push(kind, list, more) {
    const children = [];
    for (const { from, to, code } of list) {
      if (code) children.push(node("Code", from, to));
      else {
        let last = from;
        for (const match of text.slice(from, to).matchAll(INLINE)) {
          const start = from + match.index;
          if (start > last) children.push(node("Str", last, start));
          children.push(node("Code", start, start + match[0].length));
          last = start + match[0].length;
        }
        if (to > last) children.push(node("Str", last, to));
      }
    }
    if (children.length === 0) return;
    const first = children[0].range[0];
    const last = children[children.length - 1].range[1];
    blocks.push({ ...node("Paragraph", first, last), kind, children, ...more });
  }
  /** @param {string} type @param {number} from @param {number} to */
  function node(type, from, to) {
    const at = (/** @type {number} */ offset) => {
      const { line, character } = file.getLineAndCharacterOfPosition(offset);
      return { line: line + 1, column: character };
    };
    const raw = text.slice(from, to);
    return { type, raw, value: raw, range: [from, to], loc: { start: at(from), end: at(to) } };
  }
  visit(file, false);
  for (const list of commentsOf(text, literals)) {
    const doc = text.startsWith("/**", list[0].from);
    let first = true;
    for (const { pieces: lines, tag } of paragraphsOf(text, list)) {
      push(doc ? "docstring" : "comment", lines, { opening: doc && first && tag === undefined, tag });
      first = false;
    }
  }
  blocks.sort((a, b) => a.range[0] - b.range[0]);
  return { ...node("Document", 0, text.length), children: blocks };
}

/** @param {ts.Node} node */
function isText(node) {
  if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) return true;
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return false;
  return [node.left, node.right].some(isText);
}

/** Whether a text is the title of a test. @param {ts.Node} node */
function isTitle(node) {
  const call = node.parent;
  if (!ts.isCallExpression(call) || call.arguments[0] !== node) return false;
  let callee = call.expression;
  while (ts.isPropertyAccessExpression(callee)) callee = callee.expression;
  return ts.isIdentifier(callee) && TITLED.has(callee.text);
}

/** Whether a text is the help of a flag or the description of a field. @param {ts.Node} node */
function isHelp({ parent }) {
  return ts.isPropertyAssignment(parent) && /^(help|description|summary)$/.test(parent.name.getText());
}

/** Whether a text may be a message: names of modules, types, keys and tagged templates are none. @param {ts.Node} node */
function isMessage({ parent }) {
  return !(
    ts.isImportDeclaration(parent) ||
    ts.isExportDeclaration(parent) ||
    ts.isLiteralTypeNode(parent) ||
    ts.isTaggedTemplateExpression(parent) ||
    ts.isElementAccessExpression(parent) ||
    ts.isCaseClause(parent)
  );
}

/**
 * The comments of a file; `//` lines that follow one another are one. Whatever opens like a comment outside of the literals that the parser found is one.
 * @param {string} text @param {[number, number][]} literals
 */
function commentsOf(text, literals) {
  literals.sort((a, b) => a[0] - b[0]);
  /** @type {{ from: number, to: number }[][]} */
  const comments = [];
  const opens = /\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
  let index = 0;
  for (let match = opens.exec(text); match !== null; match = opens.exec(text)) {
    while (index < literals.length && literals[index][1] <= match.index) index++;
    const within = literals[index];
    if (within !== undefined && within[0] <= match.index) {
      opens.lastIndex = within[1];
      continue;
    }
    if (DIRECTIVE.test(match[0]) || match[0].startsWith("#!")) continue;
    const here = { from: match.index, to: match.index + match[0].trimEnd().length };
    const before = comments.at(-1)?.at(-1);
    const joins = before && match[0].startsWith("//") && text.startsWith("//", before.from);
    const lineStart = text.lastIndexOf("\n", here.from - 1) + 1;
    if (joins && /^\n[ \t]*$/.test(text.slice(before.to, here.from)) && text.slice(lineStart, here.from).trim() === "")
      comments.at(-1)?.push(here);
    else comments.push([here]);
  }
  return comments;
}

/** Tags whose text is code. */
const CODE_TAGS = new Set(["example", "see", "typedef", "type", "import", "template", "module"]);

/**
 * The paragraphs of a comment: blank lines, list items and tags begin new ones; code blocks, tables and examples are left out.
 * @param {string} text @param {{ from: number, to: number }[]} parts @returns {{ pieces: Piece[], tag?: string }[]}
 */
function paragraphsOf(text, parts) {
  /** @type {{ pieces: Piece[], tag?: string }[]} */
  const found = [];
  /** @type {{ pieces: Piece[], tag?: string } | undefined} */
  let current;
  const begin = (/** @type {string | undefined} */ tag) => {
    current = { pieces: [], tag };
    return current;
  };
  let fenced = false;
  let skipped = false;
  for (const line of linesOf(text, parts)) {
    let { from } = line;
    let content = text.slice(from, line.to);
    if (/^\s*```/.test(content)) fenced = !fenced;
    if (fenced || /^\s*(```|\||<\/?\w+>$)/.test(content) || /^ {4,}\S/.test(content) || content.trim() === "") {
      current = undefined;
      continue;
    }
    const item = /^\s*([-*•]|\d+[.)])\s+/.exec(content);
    if (item) {
      current = undefined;
      from += item[0].length;
      content = content.slice(item[0].length);
    }
    const tags = [
      ...content.matchAll(/(?<=^\s*|\s)@([a-z]\w+)\b(\s+\{(?:[^{}]|\{[^{}]*\})*\})?(\s+\[?[\w.$]+\]?(?:=\S+)?\s*-?)?/g),
    ];
    let at = 0;
    const flush = (/** @type {number} */ end) => {
      const piece = content.slice(at, end);
      if (piece.trim() === "" || skipped) return;
      if (current === undefined) found.push(begin(undefined));
      const lead = piece.length - piece.trimStart().length;
      current.pieces.push({
        from: from + at + (current.pieces.length === 0 ? lead : Math.max(0, lead - 1)),
        to: from + end,
      });
    };
    for (const tag of tags) {
      flush(tag.index);
      skipped = CODE_TAGS.has(tag[1]);
      const named = /^(param|default|throws|property|prop|template|defaultValue)$/.test(tag[1]);
      at = tag.index + tag[0].length - (named ? 0 : (tag[3] ?? "").length);
      found.push(begin(tag[1]));
    }
    flush(content.length);
  }
  return found.filter(({ pieces }) => pieces.length > 0);
}

/** The lines of a comment without its marks; each keeps the line break before it, so that words stay apart. @param {string} text @param {{ from: number, to: number }[]} parts */
function* linesOf(text, parts) {
  for (const { from, to } of parts) {
    const block = text.startsWith("/*", from);
    const end = block ? to - 2 : to;
    let start = from + (/^\/\*+|^\/\/+ ?/.exec(text.slice(from, to))?.[0].length ?? 0);
    while (start <= end) {
      const stop = text.indexOf("\n", start);
      const until = stop === -1 || stop > end ? end : stop;
      yield { from: start, to: start + text.slice(start, until).trimEnd().length };
      if (until === end) break;
      start = until + 1;
      start += /^[ \t]*\*? ?/.exec(text.slice(start, end))?.[0].length ?? 0;
    }
  }
}

class TypeScriptProcessor {
  availableExtensions() {
    return [".ts"];
  }
  processor() {
    return {
      preProcess: (/** @type {string} */ text, /** @type {string} */ path) => parseTypeScript(text, path),
      postProcess: (/** @type {any[]} */ messages, /** @type {string} */ filePath) => ({ messages, filePath }),
    };
  }
}

export const typescriptPlugin = { Processor: TypeScriptProcessor };

/** Shows an agent's Markdown as elements, token by token: raw HTML is text, and nothing in it ever runs. */

import type { MarkedToken, Token, Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { Component } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { t } from "../../texts";
import { Shown } from "../visible";
import { type Answer, type Block, blocks, grow, NOTHING } from "./blocks";
import { Code } from "./code";
import { decoded } from "./entities";
import { safeLink, saysWhere } from "./links";

// Deeper nesting is shown as it was written.
const DEEPEST = 24;

/** An answer; while it streams, a cursor stands at its end. */
export function Markdown({ text, streaming = false }: { text: string; streaming?: boolean }) {
  const answer = useRef<Answer>(NOTHING);
  const shown = useMemo(() => {
    answer.current = grow(answer.current, text, streaming);
    return blocks(answer.current).filter((block) => block.tokens[0]?.type !== "space");
  }, [text, streaming]);
  return (
    <div class={streaming ? "md streaming" : "md"}>
      {shown.map((block, index) => (
        <BlockView key={index} block={block} open={streaming && index === shown.length - 1} />
      ))}
    </div>
  );
}

type BlockProps = { block: Block; open: boolean };

/** One block; it is made anew only when its source changes. */
class BlockView extends Component<BlockProps, { failed: boolean }> {
  override state = { failed: false };

  override shouldComponentUpdate(next: BlockProps, state: { failed: boolean }): boolean {
    return (
      state.failed !== this.state.failed || next.open !== this.props.open || next.block.raw !== this.props.block.raw
    );
  }

  override componentDidCatch(): void {
    this.setState({ failed: true });
  }

  override render({ block, open }: BlockProps, { failed }: { failed: boolean }) {
    if (failed || block.tokens.length === 0) return <AsWritten text={block.raw} />;
    return <>{elements(block.tokens, 0, open)}</>;
  }
}

function AsWritten({ text }: { text: string }) {
  return (
    <p class="as-written">
      <Shown text={text} />
    </p>
  );
}

function elements(tokens: Token[] | undefined, depth: number, open = false): ComponentChildren {
  if (!tokens) return null;
  if (depth > DEEPEST) return <Shown text={tokens.map((token) => token.raw).join("")} />;
  return tokens.map((token) => element(token as MarkedToken, depth + 1, open));
}

function element(token: MarkedToken, depth: number, open: boolean): ComponentChildren {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "paragraph":
      return <p>{elements(token.tokens, depth)}</p>;
    case "heading":
      return heading(token, depth);
    case "code":
      return <Code text={token.text} language={token.lang ?? ""} open={open} />;
    case "blockquote":
      return <blockquote>{elements(token.tokens, depth)}</blockquote>;
    case "list":
      return list(token, depth);
    case "list_item":
      return <li>{elements(token.tokens, depth)}</li>;
    case "table":
      return table(token, depth);
    case "hr":
      return <hr />;
    case "html":
      return token.block ? <AsWritten text={token.raw.trimEnd()} /> : <Shown text={token.raw} />;
    case "strong":
      return <strong>{elements(token.tokens, depth)}</strong>;
    case "em":
      return <em>{elements(token.tokens, depth)}</em>;
    case "del":
      return <del>{elements(token.tokens, depth)}</del>;
    case "codespan":
      return (
        <code>
          <Shown text={token.text} strict />
        </code>
      );
    case "br":
      return <br />;
    case "checkbox":
      return (
        <span class="check" role="img" aria-label={token.checked ? t("done") : t("notDone")} data-on={token.checked} />
      );
    case "link":
      return link(token, depth);
    case "image":
      return image(token);
    case "escape":
      return <Shown text={token.text} />;
    case "text":
      return token.tokens ? elements(token.tokens, depth) : <Shown text={decoded(token.text)} />;
    default:
      return <Shown text={(token as Token).raw} />;
  }
}

/** Headings of an answer stand all on one level, below the app's own: whatever an agent skips, the outline is whole. */
function heading(token: Tokens.Heading, depth: number) {
  return <h3 class={`h${Math.min(token.depth, 4)}`}>{elements(token.tokens, depth)}</h3>;
}

function list(token: Tokens.List, depth: number) {
  const items = token.items.map((item) => (
    <li class={item.task ? "task" : undefined}>{elements(item.tokens, depth)}</li>
  ));
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function table(token: Tokens.Table, depth: number) {
  const cell = (one: Tokens.TableCell) => ({ class: one.align ? `to-${one.align}` : undefined });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that is wider than the screen scrolls, by keyboard, too
    <section class="table" aria-label={t("table")} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {token.header.map((one) => (
              <th {...cell(one)}>{elements(one.tokens, depth)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row) => (
            <tr>
              {row.map((one) => (
                <td {...cell(one)}>{elements(one.tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function link(token: Tokens.Link, depth: number) {
  const found = safeLink(token.href);
  if (!found) return <Shown text={token.raw} strict />;
  const known = saysWhere(token.text, found);
  return (
    <>
      <a href={found.href} target="_blank" rel="noopener noreferrer nofollow">
        {elements(token.tokens, depth)}
      </a>
      {known ? null : (
        <span class="host">
          {" "}
          (<Shown text={found.host} strict />)
        </span>
      )}
    </>
  );
}

/** A picture from elsewhere is never fetched: its address would tell who reads, and when. */
function image(token: Tokens.Image) {
  const found = safeLink(token.href);
  const words = token.text || token.href;
  if (!found) return <Shown text={token.raw} strict />;
  return (
    <a href={found.href} target="_blank" rel="noopener noreferrer nofollow" class="picture-link">
      <Shown text={words} /> <span class="host">({found.host})</span>
    </a>
  );
}

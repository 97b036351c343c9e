/** Reads what a terminal writes, by xterm's parser, loaded when the first terminal is opened. Its own drawing is not used:
 * it needs style elements, which the app's policy forbids, and its text can be neither selected on a phone nor read aloud. */

import type { PanePiece } from "../../state/types";
import { type Run, screenOf } from "./runs";

export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly lines: readonly (readonly Run[])[];
}

export interface Emulator {
  write(piece: PanePiece): void;
  end(): void;
}

/** An emulator that tells of its screen once a frame, however much is written. */
export async function openEmulator(tell: (screen: Screen) => void): Promise<Emulator> {
  const { Terminal } = await import("@xterm/xterm");
  const terminal = new Terminal({ cols: 80, rows: 24, scrollback: 0, allowProposedApi: true });
  let frame = 0;
  const draw = () => {
    frame = 0;
    const { cols, rows } = terminal;
    tell({ columns: cols, rows, lines: screenOf(terminal.buffer.active, rows, cols) });
  };
  return {
    write: (piece) => {
      if (piece.columns > 0 && piece.rows > 0) terminal.resize(piece.columns, piece.rows);
      if (piece.reset) terminal.reset();
      terminal.write(piece.bytes, () => {
        if (frame === 0) frame = requestAnimationFrame(draw);
      });
    },
    end: () => {
      cancelAnimationFrame(frame);
      terminal.dispose();
    },
  };
}

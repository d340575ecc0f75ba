// A report: the answers to all questions that it can be asked, in inert blocks of the page itself.
import { gatherTile } from './report_tiles';
import { addressOf, Failure, type Query, type Source } from './source';
import type { TimelineData } from './timeline';
import type { Metrics, Models, Nodes } from './types';

// Questions about a trace have one answer in a report, that of the whole: the parts of them that tell answers apart.
const kOfTrace: Record<string, string[]> = {
  timeline: ['channel'],
  window: ['channel'],
  shares: ['channel', 'bins', 'top', 'depth'],
  row_times: ['channel'],
  messages: [],
  matrix: [],
  waits: [],
  collectives: [],
  counters: ['metric'],
  durations: ['region'],
};

const kModelsOfAPart = 50; // as serve/model_answers.hpp has it

export class ReportSource implements Source {
  readonly live = false;
  private readonly answers = new Map<string, Promise<unknown>>();

  constructor(private readonly blocks: Map<string, Element>) {}

  static find(): ReportSource | null {
    const blocks = document.querySelectorAll('script[type="application/octet-stream"][data-question]');
    if (!blocks.length) return null;
    return new ReportSource(new Map([...blocks].map((b) => [b.getAttribute('data-question') ?? '', b])));
  }

  async get<T>(path: string, query: Query = {}): Promise<T> {
    const what = path.slice(path.indexOf('/') + 1);
    if (what === 'tree') return (await this.tree(path, query)) as T;
    if (what === 'metrics') return (await this.metrics(path, query)) as T;
    if (what === 'messages') return (await this.messages(path, query)) as T;
    if (what === 'repetitions') return (await this.repetitions(path, query)) as T;
    const apart = kOfTrace[what];
    const asked = apart ? Object.fromEntries(apart.map((key) => [key, query[key]])) : query;
    return (await this.json(addressOf(path, asked))) as T;
  }

  async bytes(path: string, query: Query = {}): Promise<ArrayBuffer> {
    if (!path.endsWith('/tile') || query['lanes'] !== undefined)
      return (await this.unpack(addressOf(path, query))).arrayBuffer();
    const { channel, depth, k, i } = query;
    const data = await this.get<TimelineData>(path.replace('/tile', '/timeline'), { channel });
    return gatherTile(query, data, async (r) =>
      (await this.unpack(addressOf(path, { channel, depth, k, i, r }))).arrayBuffer(),
    );
  }

  post<T>(path: string): Promise<T> {
    return Promise.reject(new Failure(path, 'a report holds no SQL engine; open the data with fathom view'));
  }

  // One block per view holds all metrics of the report: the question picks some of them.
  private async tree(path: string, query: Query): Promise<Nodes> {
    const { metrics, view, ...rest } = query;
    const address = addressOf(path, { view, ...rest });
    const all = (await this.json(address)) as Nodes;
    const wanted = String(metrics ?? '').split('\n');
    const found = wanted.map((name) => all.metrics.find((m) => m.name === name));
    const missing = wanted.find((_, i) => !found[i]);
    if (missing !== undefined) throw this.absent(`${address} ${missing}`);
    return { ...all, metrics: found.filter((m) => m !== undefined) };
  }

  private async metrics(path: string, query: Query): Promise<Metrics> {
    const all = (await this.json(addressOf(path, query))) as Metrics;
    const held = (await this.json(path.replace('metrics', 'columns'))) as string[];
    const unavailable = all.unavailable.map(
      (why, i) => why || (held.includes(all.name[i] ?? '') ? '' : 'not in this report'),
    );
    return { ...all, unavailable };
  }

  // Of a pair of ranks where they are listed one by one.
  private async messages(path: string, { src, dst }: Query): Promise<unknown> {
    const all = (await this.json(path)) as { count: number; bytes: number; messages?: number[][] };
    if (src === undefined && dst === undefined) return all;
    if (!all.messages) throw this.absent(`messages from rank ${src} to rank ${dst}`);
    const messages = all.messages.filter((m) => m[7] === src && m[8] === dst);
    return { ...all, messages, count: messages.length, bytes: messages.reduce((sum, m) => sum + (m[4] ?? 0), 0) };
  }

  // Kept for so many models at a time, in the order of their list. Parts that had no room leave the range of each point.
  private async repetitions(path: string, { series }: Query): Promise<{ values: number[][][] }> {
    const { models } = (await this.json(path.replace('repetitions', 'models'))) as Models;
    const values = String(series ?? '')
      .split(',')
      .map(async (one) => {
        const place = models.findIndex((m) => m.series === Number(one));
        const address = addressOf(path, { part: Math.floor(place / kModelsOfAPart) });
        if (place < 0 || !this.blocks.has(address)) return [];
        const part = (await this.json(address)) as { values: number[][][] };
        return part.values[place % kModelsOfAPart] ?? [];
      });
    return { values: await Promise.all(values) };
  }

  private json(address: string): Promise<unknown> {
    let answer = this.answers.get(address);
    if (!answer) {
      answer = this.unpack(address).then((response) => response.json() as Promise<unknown>);
      this.answers.set(address, answer);
    }
    return answer;
  }

  private absent(address: string): Failure {
    return new Failure(address, 'This report does not hold that; open the data with fathom view.');
  }

  private async unpack(address: string): Promise<Response> {
    const block = this.blocks.get(address);
    if (!block) throw this.absent(address);
    const packed = Uint8Array.from(atob(block.textContent?.trim() ?? ''), (c) => c.charCodeAt(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip')));
  }
}

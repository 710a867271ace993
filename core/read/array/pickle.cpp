#include "read/array/pickle.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "base/formatted.h"
#include "base/utf8.h"
#include "read/array/array.h"

namespace headlight {
namespace {

using Kind = PickleValue::Kind;

/// The opcodes that carry data, with the names of Python's module pickletools.
enum Opcode : unsigned char {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kDict = 'd',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kList = 'l',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyDict = '}',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kBinFloat = 'G',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kProto = 0x80,
  kNewObj = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kShortBinUnicode = 0x8c,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

constexpr std::string_view kOrderedDict = "collections OrderedDict";

class Machine {
 public:
  Machine(std::string_view where, std::string_view bytes, const std::function<bool(std::string_view)>& known)
      : where_(where), bytes_(bytes.substr(0, kMostPickleBytes)), known_(known) {}

  Result<Pickle> run() {
    while (!pickle_.root && !error_) execute();
    if (error_) return *std::move(error_);
    pickle_.size = at_;
    return std::move(pickle_);
  }

 private:
  void fail(std::string_view expected, std::string found) {
    if (!error_)
      error_ = bad_input(where_, "pickle, byte " + std::to_string(opcode_at_), expected, std::move(found),
                         ErrorCode::file_damaged);
  }

  std::string_view take(std::size_t count) {
    if (count > bytes_.size() - at_) {
      fail(std::to_string(count) + " more bytes", std::to_string(bytes_.size() - at_));
      return {};
    }
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }

  /// A little-endian number of `count` bytes, at most 8; with its sign where `is_signed`.
  std::int64_t take_integer(std::size_t count, bool is_signed = false) {
    const std::string_view taken = take(count);
    std::uint64_t value = little_endian(taken, 0, taken.size());
    if (is_signed && !taken.empty() && taken.size() < 8 && (taken.back() & 0x80) != 0)
      value |= ~std::uint64_t{0} << (8 * taken.size());
    return static_cast<std::int64_t>(value);
  }

  std::string_view take_line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == bytes_.npos) {
      fail("a line", "no end of line");
      return {};
    }
    const std::string_view line = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return line;
  }

  PickleValue& add(Kind kind) {
    pickle_.values.emplace_back().kind = kind;
    PickleValue& value = pickle_.values.back();
    push(&value);
    return value;
  }

  void push(PickleValue* value) {
    stack_.push_back(value);
    if (stack_.size() > kMostPickleValues || pickle_.values.size() > kMostPickleValues)
      fail("at most " + std::to_string(kMostPickleValues) + " values", "more");
  }

  /// The top of the stack above the last mark, taken off; null where there is none.
  PickleValue* pop() {
    if (stack_.size() <= bottom()) {
      fail("a value on the stack", "none");
      return nullptr;
    }
    PickleValue* value = stack_.back();
    stack_.pop_back();
    return value;
  }

  PickleValue* top(Kind kind, std::string_view expected) {
    if (stack_.size() <= bottom() || stack_.back()->kind != kind) {
      fail(expected, "something else on the stack");
      return nullptr;
    }
    return stack_.back();
  }

  std::size_t bottom() const { return marks_.empty() ? 0 : marks_.back(); }

  std::vector<const PickleValue*> pop_to_mark() {
    if (marks_.empty()) {
      fail("a mark on the stack", "none");
      return {};
    }
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<const PickleValue*> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }

  void add_container(Kind kind, std::vector<const PickleValue*> items) {
    if (kind == Kind::dict && items.size() % 2 != 0) return fail("a value for each key", "a key without one");
    add(kind).items = std::move(items);
  }

  void add_tuple(std::size_t count) {
    std::vector<const PickleValue*> items(count);
    for (std::size_t i = count; i > 0; --i) items[i - 1] = pop();
    if (!error_) add_container(Kind::tuple, std::move(items));
  }

  void extend(Kind kind, std::string_view expected, std::vector<const PickleValue*> items) {
    // What an object of options holds beside its state is needed by none.
    if (!error_ && stack_.size() > bottom() && stack_.back()->kind == Kind::call) return;
    PickleValue* to = error_ ? nullptr : top(kind, expected);
    if (!to) return;
    if (kind == Kind::dict && items.size() % 2 != 0) return fail("a value for each key", "a key without one");
    held_ += items.size();
    if (held_ > kMostPickleValues) return fail("at most " + std::to_string(kMostPickleValues) + " items", "more");
    to->items.insert(to->items.end(), items.begin(), items.end());
  }

  void add_text(Kind kind, std::size_t length) {
    const std::string_view text = take(length);
    if (error_) return;
    if (kind == Kind::text && first_invalid_utf8(text)) return fail("UTF-8", "other bytes");
    add(kind).text = text;
  }

  void add_global(std::string name) {
    if (error_) return;
    if (!known_(name)) return fail("tensors, storages and plain containers", "'" + printable(name) + "'");
    pickle_.names.push_back(std::move(name));
    add(Kind::global).text = pickle_.names.back();
  }

  void add_call() {
    const PickleValue* arguments = pop();
    const PickleValue* function = pop();
    if (error_) return;
    if (function->kind != Kind::global || arguments->kind != Kind::tuple)
      return fail("a call of a known name", "another call");
    if (function->text != kOrderedDict && !is_plain_record(function->text)) {
      PickleValue& call = add(Kind::call);
      call.items.push_back(function);
      call.items.insert(call.items.end(), arguments->items.begin(), arguments->items.end());
      held_ += call.items.size();
      if (held_ > kMostPickleValues) fail("at most " + std::to_string(kMostPickleValues) + " items", "more");
      return;
    }
    if (!arguments->items.empty() && function->text == kOrderedDict)
      return fail("an OrderedDict() that is filled afterwards", "one with arguments");
    add(Kind::dict);
  }

  void remember(std::int64_t key) {
    if (stack_.size() <= bottom()) return fail("a value on the stack", "none");
    if (memo_.size() >= kMostPickleValues)
      return fail("at most " + std::to_string(kMostPickleValues) + " values in the memo", "more");
    if (!error_) memo_[key] = stack_.back();
  }

  void recall(std::int64_t key) {
    const auto known = memo_.find(key);
    if (known == memo_.end()) return fail("a value that was remembered", "none");
    if (!error_) push(known->second);
  }

  /// A value that stands in the bytes themselves; false where the opcode holds none.
  bool add_value(unsigned char opcode) {
    struct Length {
      unsigned char opcode;
      Kind kind;
      std::size_t bytes;  // of an integer, or of the length of a text
    };
    static constexpr Length kEmpty[] = {{kNone, Kind::none, 0},
                                        {kNewFalse, Kind::boolean, 0},
                                        {kEmptyList, Kind::list, 0},
                                        {kEmptyTuple, Kind::tuple, 0},
                                        {kEmptyDict, Kind::dict, 0}};
    static constexpr Length kIntegers[] = {
        {kBinInt, Kind::integer, 4}, {kBinInt1, Kind::integer, 1}, {kBinInt2, Kind::integer, 2}};
    static constexpr Length kTexts[] = {{kBinUnicode, Kind::text, 4}, {kShortBinUnicode, Kind::text, 1},
                                        {kBinString, Kind::bytes, 4}, {kShortBinString, Kind::bytes, 1},
                                        {kBinBytes, Kind::bytes, 4},  {kShortBinBytes, Kind::bytes, 1}};
    const auto row_of = [opcode](const auto& rows) {
      const auto row =
          std::find_if(std::begin(rows), std::end(rows), [&](const Length& one) { return one.opcode == opcode; });
      return row == std::end(rows) ? nullptr : &*row;
    };
    if (const Length* row = row_of(kEmpty)) add(row->kind);
    else if (const Length* number = row_of(kIntegers))
      add(number->kind).integer = take_integer(number->bytes, number->bytes == 4);
    else if (const Length* text = row_of(kTexts))
      add_text(text->kind, static_cast<std::size_t>(take_integer(text->bytes)));
    else if (opcode == kNewTrue) add(Kind::boolean).integer = 1;
    else if (opcode == kLong1) add_long();
    else if (opcode == kBinFloat) add_float();
    else return false;
    return true;
  }

  /// Numbers of more than 8 bytes stand only where a number is of no use here, as the magic of old files.
  void add_long() {
    const auto length = static_cast<std::size_t>(take_integer(1));
    const std::string_view digits = take(length);
    if (error_) return;
    if (length > 8) {
      add(Kind::bytes).text = digits;
      return;
    }
    at_ -= length;
    add(Kind::integer).integer = take_integer(length, true);
  }

  void add_float() {
    const std::string_view taken = take(8);
    if (error_) return;
    std::uint64_t bits = 0;
    for (const char byte : taken) bits = bits << 8 | static_cast<unsigned char>(byte);
    add(Kind::number).number = std::bit_cast<double>(bits);
  }

  /// One or two values from the stack go into the container below them.
  void extend_by(Kind kind, std::string_view expected, std::size_t count) {
    std::vector<const PickleValue*> items(count);
    for (std::size_t i = count; i > 0; --i) items[i - 1] = pop();
    extend(kind, expected, std::move(items));
  }

  /// Takes two texts that name a global.
  void add_stacked_global() {
    const PickleValue* name = pop();
    const PickleValue* module = pop();
    if (error_) return;
    if (name->kind != Kind::text || module->kind != Kind::text) return fail("a name as text", "something else");
    add_global(std::string(module->text) + " " + std::string(name->text));
  }

  void execute() {
    constexpr std::string_view kToList = "a list to append to", kToDict = "a dict to add to";
    opcode_at_ = at_;
    const std::string_view taken = take(1);
    if (error_) return;
    const auto opcode = static_cast<unsigned char>(taken[0]);
    if (add_value(opcode)) return;
    switch (opcode) {
      case kProto:
        if (const std::int64_t protocol = take_integer(1); !error_ && (protocol < 2 || protocol > 5))
          fail("protocol 2 to 5", std::to_string(protocol));
        return;
      case kFrame: take(8); return;
      case kMark:
        marks_.push_back(stack_.size());
        if (marks_.size() > kMostPickleValues) fail("at most " + std::to_string(kMostPickleValues) + " marks", "more");
        return;
      case kStop:
        if (PickleValue* value = pop()) pickle_.root = value;
        return;
      case kPop: pop(); return;
      case kPopMark: pop_to_mark(); return;
      case kDup:
        if (stack_.size() <= bottom()) return fail("a value on the stack", "none");
        return push(stack_.back());
      case kList: return add_container(Kind::list, pop_to_mark());
      case kTuple: return add_container(Kind::tuple, pop_to_mark());
      case kDict: return add_container(Kind::dict, pop_to_mark());
      case kTuple1: return add_tuple(1);
      case kTuple2: return add_tuple(2);
      case kTuple3: return add_tuple(3);
      case kAppend: return extend_by(Kind::list, kToList, 1);
      case kAppends: return extend(Kind::list, kToList, pop_to_mark());
      case kSetItem: return extend_by(Kind::dict, kToDict, 2);
      case kSetItems: return extend(Kind::dict, kToDict, pop_to_mark());
      case kBinPut: return remember(take_integer(1));
      case kLongBinPut: return remember(take_integer(4));
      case kMemoize: return remember(static_cast<std::int64_t>(memo_.size()));
      case kBinGet: return recall(take_integer(1));
      case kLongBinGet: return recall(take_integer(4));
      case kGlobal: {
        const std::string_view module = take_line(), name = take_line();
        return add_global(std::string(module) + " " + std::string(name));
      }
      case kStackGlobal: return add_stacked_global();
      case kReduce:
      case kNewObj: return add_call();
      case kBuild:
        // The state of an object beside its items: of a dict of tensors the versions of its modules.
        pop();
        if (!error_ && stack_.size() <= bottom()) fail("an object that takes a state", "none");
        return;
      case kBinPersId:
        if (const PickleValue* id = pop()) add(Kind::persistent).items.push_back(id);
        return;
      default: fail("an opcode that holds data", formatted("0x%02x", static_cast<unsigned>(opcode)));
    }
  }

  std::string_view where_, bytes_;
  const std::function<bool(std::string_view)>& known_;
  std::size_t at_ = 0, opcode_at_ = 0;
  std::size_t held_ = 0;  // items in containers
  Pickle pickle_;
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;  // heights of the stack
  std::unordered_map<std::int64_t, PickleValue*> memo_;
  std::optional<Error> error_;
};

}  // namespace

const PickleValue* PickleValue::find(std::string_view key) const {
  if (kind != Kind::dict) return nullptr;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2)
    if (items[i]->kind == Kind::text && items[i]->text == key) return items[i + 1];
  return nullptr;
}

bool is_plain_record(std::string_view name) {
  return name.starts_with("transformers.") &&
         (name.ends_with("Output") || name.find("Output") != name.npos || name.ends_with("Cache"));
}

Result<Pickle> parse_pickle(std::string_view where, std::string_view bytes,
                            const std::function<bool(std::string_view name)>& known) {
  return Machine(where, bytes, known).run();
}

}  // namespace headlight

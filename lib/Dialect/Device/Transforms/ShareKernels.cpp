//===- ShareKernels.cpp - One kernel for several sizes --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Many kernels of a convolutional model differ only in numbers: the size of the
// image, the number of channels, the factor of a mean. A compiler takes as long
// for each of them as for the first. Here kernels of one form become one
// kernel, and the numbers in which they differ become its arguments; numbers
// that are always equal share one. What a kernel computes, and in which order,
// stays.
//
// The length of a short row stays a number (`least-columns`): a compiler makes
// better code of them where it knows their length.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Device/Transforms/Passes.h"

#include "KernelSkeleton.h"
#include "gpuopt/Dialect/Device/IR/Accesses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <deque>

namespace gpuopt::device {
#define GEN_PASS_DEF_SHAREKERNELS
#include "gpuopt/Dialect/Device/Transforms/Passes.h.inc"
} // namespace gpuopt::device

using namespace mlir;
using namespace gpuopt::device;

/// A call with more numbers than these is harder to read than another kernel.
static constexpr size_t kMostNumbers = 8;

namespace {

struct Member {
  KernelOp kernel;
  KernelSkeleton form;
};

/// Numbers that are equal in each member, and so become one argument.
struct Argument {
  SmallVector<TypedAttr> values; ///< One for each member.
  SmallVector<size_t> numbers;   ///< Indices into the members' forms.
};

/// Kernels of one form.
class Family {
public:
  void add(KernelOp kernel, KernelSkeleton form) {
    members.push_back({kernel, std::move(form)});
  }

  bool isWorthSharing() {
    if (members.size() < 2)
      return false;
    findArguments();
    return arguments.size() <= kMostNumbers;
  }

  /// Changes the first kernel so that it does the work of all, and erases the
  /// others.
  void share(const llvm::StringMap<SmallVector<LaunchOp>> &launches) {
    Builder builder(first()->getContext());
    for (auto [index, member] : llvm::enumerate(members)) {
      SmallVector<Attribute> numbers;
      for (const Argument &argument : arguments)
        numbers.push_back(argument.values[index]);
      for (LaunchOp launch : launches.lookup(member.kernel.getSymName())) {
        launch.setKernel(first().getSymName());
        if (!numbers.empty())
          launch.setNumbersAttr(builder.getArrayAttr(numbers));
        if (hasSeveralGrids()) {
          launch.setBlocks(grids[index].first);
          launch.setThreads(grids[index].second);
        }
      }
    }
    nameOperands();
    addArguments();
    // The smallest number of resident blocks holds for all members.
    for (Member &member : members)
      first().setResidentBlocks(std::min(first().getResidentBlocks(),
                                         member.kernel.getResidentBlocks()));
    for (Member &member : llvm::drop_begin(members))
      member.kernel.erase();
  }

  size_t size() const { return members.size(); }

private:
  KernelOp first() { return members.front().kernel; }

  void findArguments() {
    llvm::MapVector<Attribute, Argument> byValues;
    MLIRContext *context = first()->getContext();
    for (size_t i = 0; i < members.front().form.numbers.size(); ++i) {
      Argument argument;
      SmallVector<Attribute> key;
      for (const Member &member : members) {
        argument.values.push_back(member.form.numbers[i].value);
        key.push_back(argument.values.back());
      }
      if (llvm::all_equal(key))
        continue;
      byValues.try_emplace(ArrayAttr::get(context, key), argument)
          .first->second.numbers.push_back(i);
    }
    for (auto &[key, argument] : byValues)
      arguments.push_back(argument);
    for (Member &member : members)
      grids.push_back({member.kernel.getBlocks(), member.kernel.getThreads()});
  }

  bool hasSeveralGrids() const { return !llvm::all_equal(grids); }

  /// Gives the name x, or y if the kernel writes to it, to each pointer whose
  /// name is not the same in all kernels.
  void nameOperands() {
    Block &body = first().getBody().front();
    SmallVector<Attribute> names(first().getArgumentNames().getValue());
    Builder builder(first()->getContext());
    unsigned read = 0, written = 0;
    for (unsigned index = 0; index < names.size(); ++index) {
      Value argument = body.getArgument(index);
      if (!isa<PtrType>(argument.getType()))
        continue;
      bool isWrittenTo = isWritten(first(), index);
      unsigned number = isWrittenTo ? written++ : read++;
      bool agrees = llvm::all_of(members, [&](Member &member) {
        return member.kernel.getArgumentNames()[index] == names[index];
      });
      if (!agrees)
        names[index] =
            builder.getStringAttr((isWrittenTo ? "y" : "x") + Twine(number));
    }
    first().setArgumentNamesAttr(builder.getArrayAttr(names));
  }

  /// Adds the arguments after the pointers and before the step's scalars.
  void addArguments() {
    Block &body = first().getBody().front();
    SmallVector<Attribute> names(first().getArgumentNames().getValue());
    llvm::StringSet<> given;
    for (Attribute name : names)
      given.insert(cast<StringAttr>(name).getValue());
    unsigned position =
        llvm::count_if(body.getArgumentTypes(), llvm::IsaPred<PtrType>);
    const std::vector<KernelNumber> &numbers = members.front().form.numbers;
    for (const Argument &argument : arguments) {
      const KernelNumber &example = numbers[argument.numbers.front()];
      Value value = body.insertArgument(position, example.value.getType(),
                                        first().getLoc());
      std::string name = example.role;
      for (unsigned count = 2; !given.insert(name).second; ++count)
        name = example.role + "_" + std::to_string(count);
      names.insert(names.begin() + position++,
                   StringAttr::get(first()->getContext(), name));
      for (size_t i : argument.numbers)
        replaceNumber(numbers[i], value);
    }
    first().setArgumentNamesAttr(ArrayAttr::get(first()->getContext(), names));
  }

  std::vector<Member> members;
  std::vector<Argument> arguments;
  SmallVector<std::pair<int64_t, int64_t>> grids; ///< Blocks and threads.
};

class ShareKernels
    : public gpuopt::device::impl::ShareKernelsBase<ShareKernels> {
public:
  using ShareKernelsBase::ShareKernelsBase;

private:
  void runOnOperation() override {
    llvm::MapVector<StringRef, Family> families;
    std::deque<std::string> texts; // the keys refer to these
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      // The trainer knows a check of indices by its kernel, so kernels with
      // such a check stay apart.
      if (kernel.walk([](InRangeOp) { return WalkResult::interrupt(); })
              .wasInterrupted())
        continue;
      KernelSkeleton form = skeletonOf(kernel, leastColumns);
      texts.push_back(form.text);
      families[texts.back()].add(kernel, std::move(form));
    }
    llvm::StringMap<SmallVector<LaunchOp>> launches;
    getOperation().walk(
        [&](LaunchOp op) { launches[op.getKernel()].push_back(op); });
    for (auto &[text, family] : families)
      if (family.isWorthSharing()) {
        sharedCount += family.size();
        ++formCount;
        family.share(launches);
      }
  }
};

} // namespace
